// A handler for visitors who sign in with a wallet (EIP-4361): the others get the sign-in page, or 401.

import type { FetchHandler, FetchInfo } from '../../exchange/fetch-handler.ts'
import { buildRequest } from '../../exchange/fetch-request.ts'
import { checksumAddress } from '../../identity/key.ts'
import { isResponse } from '../../platform-objects.ts'
import { spellingOf } from '../../semantics/field-spelling.ts'
import { withHeaders } from '../response-headers.ts'
import { isForeign, isNavigation, SIGN_IN_PATH, signInRequired, textAnswer } from './answers.ts'
import { endBodyWith, endSocketWith, LiveSessions } from './live-sessions.ts'
import { macWith } from './mac.ts'
import { checkOptions, type WalletOptions } from './options.ts'
import { type Session, Sessions, withoutSession } from './sessions.ts'
import { SignIn } from './sign-in.ts'
import { signInPage } from './sign-in-page.ts'

/** The field that says which pages may embed a response. */
const EMBEDDING = 'Cross-Origin-Resource-Policy'
/** RFC 9110 §9.2.1. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The field in which the handler behind the sign-in finds the address, with its EIP-55 checksum. */
const WALLET_FIELD = 'X-Svc-Wallet'

const SPELLED = spellingOf(WALLET_FIELD)

/**
 * Returns a handler that lets in visitors who sign in with a wallet of the list, and calls `handler` for them. A session lasts 24
 * hours, or until the visitor signs out; its WebSockets and responses end with it. `handler` finds the wallet's address in the field
 * `X-Svc-Wallet`, which no visitor can set. The paths `/.svc/wallet` and below are this handler's own.
 * @throws SvcError `invalid_option`, such as for an address with a wrong checksum
 */
export function walletOnly(handler: FetchHandler, options: WalletOptions): FetchHandler {
  const checked = checkOptions(options)
  const mac = macWith(checked.key)
  const live = new LiveSessions()
  const sessions = new Sessions(mac, checked.wallets)
  const signIn = new SignIn(checked, mac, sessions, live)
  return async (request, info) => {
    const { pathname, origin, host } = new URL(request.url)
    if (pathname === SIGN_IN_PATH || pathname.startsWith(`${SIGN_IN_PATH}/`)) return signIn.answer(request)
    const session = await sessions.of(request, host)
    // The visitor may have signed out while the cookie was checked.
    if (!session || !sessions.isOpen(session)) return refuse(request, origin)
    if (isForged(request, origin)) return textAnswer(403, 'This request comes from a page of another site')
    return pass(request, info, session)
  }

  async function pass(request: Request, info: FetchInfo, session: Session): Promise<Response> {
    const use = live.use(session)
    let upgraded: Response | undefined
    const upgrade: FetchInfo['upgrade'] = (...given) => {
      const made = info.upgrade(...given)
      upgraded = made.response
      endSocketWith(made.socket, use.again())
      return made
    }
    try {
      const passed = { ...info, upgrade }
      const response = await handler(passedRequest(request, session), passed, passed)
      if (response === upgraded) return response
      if (!isResponse(response)) return response // The caller reports what is wrong with it.
      if (use.signal.aborted) {
        response.body?.cancel().catch(() => {}) // Ignores a failed clean-up of the handler.
        return refuse(request, new URL(request.url).origin)
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
}

function refuse(request: Request, origin: string): Response {
  return isNavigation(request) ? signInPage(request, undefined) : signInRequired(request, origin)
}

/**
 * Returns whether a page of another origin makes the visitor's browser act here (CSRF). A cookie with `SameSite=Lax` is also sent from
 * sibling hostnames, and a WebSocket handshake is not subject to CORS.
 */
function isForged(request: Request, origin: string): boolean {
  const changes = !SAFE.has(request.method) || request.headers.has('upgrade')
  return changes && isForeign(request, origin)
}

/**
 * Returns the request for the handler, whose field with the address no visitor can set or remove. It is a new request, so that
 * copies of it also have the same fields.
 */
function passedRequest(request: Request, { address }: Session): Request {
  const headers = new Headers()
  for (const [name, value] of request.headers) {
    const kept =
      name === 'connection' ? withoutField(value) : name === 'cookie' ? withoutSession(value) : value
    const isEmptied = kept === '' && value !== ''
    if (spellingOf(name) !== SPELLED && !isEmptied) headers.append(name, kept)
  }
  headers.set(WALLET_FIELD, checksumAddress(address))
  const { url, method, signal } = request
  return buildRequest(url, { method, headers, signal }, request.body ?? undefined)
}

/** Removes this field's name from Connection, whose fields a proxy drops (RFC 9110 §7.6.1). */
function withoutField(connection: string): string {
  return connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => spellingOf(option) !== SPELLED)
    .join(', ')
}
