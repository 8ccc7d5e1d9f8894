// The gate in front of a handler: it decides about each request, and ends what runs when a session ends.

import type { FetchHandler, FetchInfo } from '../exchange/fetch-handler.ts'
import { buildRequest } from '../exchange/fetch-request.ts'
import { textAnswer } from '../handlers/sessions/answers.ts'
import { LiveSessions } from '../handlers/sessions/live-sessions.ts'
import { macWith } from '../handlers/sessions/mac.ts'
import { isForged, isNavigation } from '../handlers/sessions/origin-checks.ts'
import { passInSession } from '../handlers/sessions/pass-in-session.ts'
import { type Session, Sessions } from '../handlers/sessions/sessions.ts'
import { ACCESS_PATH, tooManyGuesses, unauthorized } from './answers.ts'
import { Authorization } from './authorization.ts'
import { BEARER_SUBJECT, Credentials } from './credentials.ts'
import { GuessLimiter } from './guess-limiter.ts'
import { networkOf } from './network.ts'
import type { CheckedAccess } from './options.ts'
import type { DeriveKey } from './password-hash.ts'
import { SignIn, type Visitor } from './sign-in.ts'

const KEY_BYTES = 32

/** A Gate lets visitors in by the options of `access`. */
export class Gate {
  readonly #credentials: Credentials
  readonly #live = new LiveSessions()
  readonly #sessions: Sessions
  readonly #authorization: Authorization
  readonly #signIn: SignIn

  constructor(access: CheckedAccess, derive: DeriveKey | undefined) {
    const mac = macWith(crypto.getRandomValues(new Uint8Array(KEY_BYTES)))
    const limiter = new GuessLimiter()
    this.#credentials = new Credentials(access, derive)
    this.#sessions = new Sessions(mac, { cookie: '__Host-svc-access', endOf: () => Number.POSITIVE_INFINITY })
    this.#authorization = new Authorization(this.#credentials, limiter, mac)
    const parts = { credentials: this.#credentials, limiter, sessions: this.#sessions, live: this.#live }
    this.#signIn = new SignIn(parts)
  }

  /** Returns a handler that calls `handler` for visitors who may come in. It has no direct path, which would lead around the gate. */
  before(handler: FetchHandler): FetchHandler {
    return (request, info) => this.#answer(handler, request, info)
  }

  async #answer(handler: FetchHandler, request: Request, info: FetchInfo): Promise<Response> {
    const url = new URL(request.url)
    const address = info.remote?.address
    const network = address === undefined ? undefined : networkOf(address)
    const session = await this.#sessions.of(request, url.host)
    const visitor = { request, url, network, session }
    if (isOwnPath(url)) return this.#signIn.answer(visitor)
    const entered = session ?? (await this.#enter(visitor))
    if (!('id' in entered)) return entered
    // The visitor may have signed out while the cookie was checked.
    if (session && !this.#sessions.isOpen(session)) return this.#refuse(visitor)
    // A browser adds a cookie and a password to what pages of other sites ask, but never a token.
    if (entered.subject !== BEARER_SUBJECT && isForged(request, url.origin))
      return textAnswer(403, 'This request comes from a page of another site')
    const passed = this.#passedRequest(request)
    return passInSession(this.#live.use(entered), handler, passed, info, () => this.#refuse(visitor))
  }

  /** Resolves with the session of a visitor without a cookie, which is that of all who send the same secret, or with a refusal. */
  async #enter(visitor: Visitor): Promise<Session | Response> {
    const found = await this.#authorization.of(visitor.request, visitor.network)
    if (found === 'too_many') return tooManyGuesses(visitor.request)
    if (typeof found === 'string') return this.#refuse(visitor)
    const { subject } = found
    const id = `${subject} ${visitor.network}`
    return { id, subject, issuedAt: Date.now(), expiresAt: Number.POSITIVE_INFINITY }
  }

  #refuse(visitor: Visitor): Response {
    const { request, url } = visitor
    if (!isNavigation(request)) return unauthorized(request, url.origin, this.#credentials)
    return this.#signIn.page(visitor)
  }

  /** Returns the request without the secrets of the site: the cookie, and the field by which the visitor came in. */
  #passedRequest(request: Request): Request {
    const isOwn = this.#authorization.isOwn(request)
    const headers = new Headers()
    for (const [name, value] of request.headers) {
      const kept = name === 'cookie' ? this.#sessions.without(value) : value
      const isEmptied = kept === '' && value !== ''
      if (!isEmptied && !(isOwn && name === 'authorization')) headers.append(name, kept)
    }
    const { url, method, signal } = request
    return buildRequest(url, { method, headers, signal }, request.body ?? undefined)
  }
}

function isOwnPath({ pathname }: URL): boolean {
  return pathname === ACCESS_PATH || pathname.startsWith(`${ACCESS_PATH}/`)
}
