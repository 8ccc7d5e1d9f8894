// A handler for visitors who sign in with a wallet (EIP-4361): the others get the sign-in page, or 401.

import { DIRECT, type DirectlyHandled } from '../../exchange/direct.ts'
import type { FetchHandler } from '../../exchange/fetch-handler.ts'
import { buildRequest } from '../../exchange/fetch-request.ts'
import { checksumAddress } from '../../identity/key.ts'
import { textAnswer } from '../sessions/answers.ts'
import { type Check, directBehind } from '../sessions/guarded-exchange.ts'
import { LiveSessions } from '../sessions/live-sessions.ts'
import { macWith } from '../sessions/mac.ts'
import { isForged, isNavigation } from '../sessions/origin-checks.ts'
import { setOwnFields } from '../sessions/own-fields.ts'
import { passInSession } from '../sessions/pass-in-session.ts'
import { type Session, Sessions } from '../sessions/sessions.ts'
import { SIGN_IN_PATH, signInRequired } from './answers.ts'
import { checkOptions, type WalletOptions } from './options.ts'
import { SignIn } from './sign-in.ts'
import { signInPage } from './sign-in-page.ts'

/** The field in which the handler behind the sign-in finds the address, with its EIP-55 checksum. */
const WALLET_FIELD = 'X-Svc-Wallet'

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
  const sessions = new Sessions(mac, {
    cookie: '__Host-svc-wallet',
    endOf: (address) => (checked.wallets.has(address) ? Number.POSITIVE_INFINITY : 0),
  })
  const signIn = new SignIn(checked, mac, sessions, live)
  const check: Check = async (behind, request, info) => {
    const { pathname, origin, host } = new URL(request.url)
    if (pathname === SIGN_IN_PATH || pathname.startsWith(`${SIGN_IN_PATH}/`)) return signIn.answer(request)
    const session = await sessions.of(request, host)
    // The visitor may have signed out while the cookie was checked.
    if (!session || !sessions.isOpen(session)) return refuse(request, origin)
    if (isForged(request, origin)) return textAnswer(403, 'This request comes from a page of another site')
    const passed = passedRequest(request, session, sessions)
    return passInSession(live.use(session), behind, passed, info, () => refuse(request, origin))
  }
  const guarded: DirectlyHandled = (request, info) => check(handler, request, info)
  guarded[DIRECT] = directBehind(check, handler)
  return guarded
}

function refuse(request: Request, origin: string): Response {
  return isNavigation(request) ? signInPage(request, undefined) : signInRequired(request, origin)
}

/**
 * Returns the request for the handler, whose field with the address no visitor can set or remove. It is a new request, so that
 * copies of it also have the same fields.
 */
function passedRequest(request: Request, { subject }: Session, sessions: Sessions): Request {
  const headers = new Headers()
  for (const [name, value] of request.headers) {
    const kept = name === 'cookie' ? sessions.without(value) : value
    if (kept !== '' || value === '') headers.append(name, kept)
  }
  setOwnFields(headers, { [WALLET_FIELD]: checksumAddress(subject) })
  const { url, method, signal } = request
  return buildRequest(url, { method, headers, signal }, request.body ?? undefined)
}
