// Keeps the admin token for as long as this tab is open, in no URL and no lasting storage.
import { type AdminAuthLoginResponse, PATH } from '@svc/protocol'
import { ApiError, callApi } from '../common/api.ts'
import { Store } from '../common/store.ts'
import { LOGIN } from '../texts/admin.ts'

const KEY = 'svc-admin-token'

interface AdminLogin {
  token: string | undefined
  /** Reason for which the administrator has to log in again. */
  reason: string
}

export const adminLogin: Store<AdminLogin> = new Store<AdminLogin>({
  token: sessionStorage.getItem(KEY) ?? undefined,
  reason: '',
})

/** @throws ApiError */
export async function login(token: string): Promise<void> {
  const { access_token } = await callApi<AdminAuthLoginResponse>(PATH.adminLogin, { body: { token } })
  sessionStorage.setItem(KEY, access_token)
  adminLogin.set({ token: access_token, reason: '' })
}

export function logout(reason: string): void {
  sessionStorage.removeItem(KEY)
  adminLogin.set({ token: undefined, reason })
}

/**
 * Calls the API with the admin token. If the relay refuses the token, the page shows the login form again.
 * @throws ApiError
 */
export async function callAsAdmin<T>(path: string, body?: unknown): Promise<T> {
  const { token = '' } = adminLogin.value
  try {
    return await callApi<T>(path, { token, ...(body !== undefined && { body }) })
  } catch (error) {
    const isRefused = error instanceof ApiError && error.isUnauthorized
    if (isRefused && adminLogin.value.token === token) logout(LOGIN.expired)
    throw error
  }
}
