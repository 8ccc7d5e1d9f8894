// Shows the login form for the admin token.
import type { ApiError } from '../common/api.ts'
import { useState, type VNode } from '../preact.ts'
import { LOGIN } from '../texts/admin.ts'
import { COMMON } from '../texts/common.ts'
import { login } from './admin-login.ts'

const REASONS: Record<string, string> = {
  unauthorized: LOGIN.refused,
  rate_limited: LOGIN.limited,
  feature_unavailable: LOGIN.off,
  unreachable: COMMON.noAnswer,
}

export function Login({ reason }: { reason: string }): VNode {
  const [token, setToken] = useState('')
  const [error, setError] = useState(reason)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setError('')
    await login(token.trim()).catch(({ code, message }: ApiError) => setError(REASONS[code] ?? message))
  }
  return (
    <main>
      <h1>{LOGIN.title}</h1>
      {/* POST keeps the token out of the URL even if this script does not run. */}
      <form class="card stack" method="post" onSubmit={submit}>
        <p class="quiet">{LOGIN.about}</p>
        <label for="token">{LOGIN.token}</label>
        <input
          id="token"
          type="password"
          required
          autocomplete="current-password"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <button type="submit">{LOGIN.submit}</button>
        <p class="error" role="alert">
          {error}
        </p>
      </form>
    </main>
  )
}
