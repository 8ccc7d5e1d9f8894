// Calls the handler for one exchange of a session, which ends with the session.

import type { FetchHandler, FetchInfo } from '../../exchange/fetch-handler.ts'
import { isResponse } from '../../platform-objects.ts'
import { withHeaders } from '../response-headers.ts'
import { endBodyWith, endSocketWith, type Use } from './live-sessions.ts'

/** The field that says which pages may embed a response. */
const EMBEDDING = 'Cross-Origin-Resource-Policy'

/**
 * Calls `handler`. A WebSocket or a response that it makes ends when the session does.
 * @param refused returns the answer when the session has ended meanwhile
 */
export async function passInSession(
  use: Use,
  handler: FetchHandler,
  request: Request,
  info: FetchInfo,
  refused: () => Response | Promise<Response>,
): Promise<Response> {
  let upgraded: Response | undefined
  const upgrade: FetchInfo['upgrade'] = (...given) => {
    const made = info.upgrade(...given)
    upgraded = made.response
    endSocketWith(made.socket, use.again())
    return made
  }
  try {
    const passed = { ...info, upgrade }
    const response = await handler(request, passed, passed)
    if (response === upgraded) return response
    if (!isResponse(response)) return response // The caller reports what is wrong with it.
    if (use.signal.aborted) {
      response.body?.cancel().catch(() => {}) // Ignores a failed clean-up of the handler.
      return refused()
    }
    const headers = new Headers(response.headers)
    // A browser's stored response must not be shown after a sign-out.
    headers.append('Vary', 'Cookie')
    // Pages of sibling hostnames, whose requests carry the cookie, cannot embed the response (Fetch standard).
    if (!headers.has(EMBEDDING)) headers.set(EMBEDDING, 'same-origin')
    return endBodyWith(withHeaders(response, headers), use.again())
  } finally {
    use.end()
  }
}
