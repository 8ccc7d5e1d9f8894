// The administrator's token, kept for as long as this tab: never in an address, never in what outlives the tab.
import { type AdminAuthLoginResponse, PATH } from '@svc/protocol'
import { ApiError, callApi } from '../common/api.ts'
import { Store } from '../common/store.ts'
import { LOGIN } from '../texts/admin.ts'

const KEY = 'svc-admin-token'

interface Session {
  token: string | undefined
  /** Why somebody has to log in again. */
  reason: string
}

export const session: Store<Session> = new Store<Session>({
  token: sessionStorage.getItem(KEY) ?? undefined,
  reason: '',
})

/** @throws ApiError */
export async function login(token: string): Promise<void> {
  const { access_token } = await callApi<AdminAuthLoginResponse>(PATH.adminLogin, { body: { token } })
  sessionStorage.setItem(KEY, access_token)
  session.set({ token: access_token, reason: '' })
}

export function logout(reason: string): void {
  sessionStorage.removeItem(KEY)
  session.set({ token: undefined, reason })
}

/**
 * Calls the API as the administrator. A token that is not accepted any more leads back to the login.
 * @throws ApiError
 */
export async function asAdmin<T>(path: string, body?: unknown): Promise<T> {
  const { token = '' } = session.value
  try {
    return await callApi<T>(path, { token, ...(body !== undefined && { body }) })
  } catch (error) {
    const isRefused = error instanceof ApiError && error.isUnauthorized
    if (isRefused && session.value.token === token) logout(LOGIN.expired)
    throw error
  }
}
