// The gate in front of a handler: it decides about each request, and ends what runs when a session ends.

import { TIMER_MAX_MS } from '@svc/protocol/timers'
import { SvcError } from '../errors.ts'
import { CROSS_ORIGIN, type CrossOrigin, type CrossOriginHandler } from '../exchange/cross-origin.ts'
import { DIRECT, type DirectlyHandled } from '../exchange/direct.ts'
import type { FetchHandler, FetchInfo, VisitorUser } from '../exchange/fetch-handler.ts'
import { buildRequest } from '../exchange/fetch-request.ts'
import { withCookies } from '../handlers/cookies.ts'
import { textAnswer } from '../handlers/sessions/answers.ts'
import { type Check, directBehind } from '../handlers/sessions/guarded-exchange.ts'
import { LiveSessions } from '../handlers/sessions/live-sessions.ts'
import { macWith } from '../handlers/sessions/mac.ts'
import { isForged, isNavigation } from '../handlers/sessions/origin-checks.ts'
import { setOwnFields } from '../handlers/sessions/own-fields.ts'
import { passInSession } from '../handlers/sessions/pass-in-session.ts'
import { Sessions } from '../handlers/sessions/sessions.ts'
import { isResponse } from '../platform-objects.ts'
import { ACCESS_PATH, notice, TAKEN, tooManyGuesses, unauthorized } from './answers.ts'
import { Authorization, type Authorized } from './authorization.ts'
import { BEARER_SUBJECT, Credentials } from './credentials.ts'
import { GuessLimiter } from './guess-limiter.ts'
import type { Admission, Knocking } from './knock/knocking.ts'
import { FULL_RETRY_S } from './limits.ts'
import { isAdmitted, networkOf } from './network.ts'
import type { OidcSignIn } from './oidc/index.ts'
import type { CheckedAccess } from './options.ts'
import type { DeriveKey } from './password-hash.ts'
import { SHARE_FIELD, type ShareLinks, type ShareOptions, type Sharing } from './share-links.ts'
import { pathOf, SHARE_SUBJECT, SignIn } from './sign-in.ts'
import { FIELDS } from './sign-in-page.ts'
import type { Visitor } from './visitor.ts'
import { Visitors } from './visitors.ts'

const KEY_BYTES = 32
/** The fields in which a handler, and the server behind it, find who signed in at an issuer of OpenID Connect. */
const USER_FIELD = 'X-Svc-User'
const EMAIL_FIELD = 'X-Svc-Email'

/** The subject of visitors of a site without passwords and tokens. */
const ANYONE = 'anyone'

/** Who comes in by nothing that a browser adds by itself to what a page of another site asks. */
const WITHOUT_FORGERY: ReadonlySet<string> = new Set([ANYONE, BEARER_SUBJECT])

/** The parts of a gate: those that took a while to open, and those whose code is loaded only for sites that have them. */
export interface GateParts {
  shares: ShareLinks
  knock: typeof import('./knock/index.ts') | undefined
  oidc: OidcSignIn | undefined
}

/** A Gate lets visitors in by the options of `access`. */
export class Gate {
  /** Aborted when the time of the site is over. */
  readonly closed: AbortSignal
  readonly #access: CheckedAccess
  readonly #visitors: Visitors
  readonly #credentials: Credentials
  readonly #live = new LiveSessions()
  readonly #shares: ShareLinks
  readonly #sessions: Sessions
  readonly #authorization: Authorization
  readonly #signIn: SignIn
  readonly #oidc: OidcSignIn | undefined
  /** Undefined when nobody may knock. */
  readonly knocking: Knocking | undefined

  constructor(access: CheckedAccess, derive: DeriveKey | undefined, { shares, knock, oidc }: GateParts) {
    const mac = macWith(crypto.getRandomValues(new Uint8Array(KEY_BYTES)))
    const limiter = new GuessLimiter()
    const closing = new AbortController()
    this.closed = closing.signal
    this.#access = access
    this.#shares = shares
    this.#visitors = new Visitors(access, this.#live)
    this.#credentials = new Credentials(access, derive)
    this.#sessions = new Sessions(mac, {
      cookie: '__Host-svc-access',
      endOf: (subject) => this.#endOf(subject),
    })
    this.#authorization = new Authorization(this.#credentials, limiter, mac)
    this.#signIn = new SignIn({
      credentials: this.#credentials,
      limiter,
      sessions: this.#sessions,
      live: this.#live,
      visitors: this.#visitors,
      shares: this.#shares,
      oidc,
    })
    this.#oidc = oidc
    const canSignIn = this.#credentials.hasPasswords || oidc !== undefined
    this.knocking = knock && new knock.Knocking({ mac, sessions: this.#sessions, canSignIn })
    this.#closeInTime(closing)
  }

  /**
   * Returns a handler that calls `handler` for visitors who may come in. Of its direct path, only gRPC calls use what is left.
   * @param crossOrigin what speaks for the handler to pages of other origins
   */
  before(
    handler: CrossOriginHandler,
    crossOrigin: CrossOrigin | undefined = handler[CROSS_ORIGIN],
  ): DirectlyHandled {
    const check: Check = (passed, request, info) => this.#answer(passed, crossOrigin, request, info)
    const guarded: DirectlyHandled = (request, info) => check(handler, request, info)
    guarded[DIRECT] = directBehind(check, handler)
    return guarded
  }

  /** Gives a site the members to share it. Its links are valid at each site behind this gate. */
  attach<S extends { readonly url: string }>(site: S): S & Sharing {
    const { hasPasswords, hasBearer } = this.#credentials
    const shares = this.#shares
    const share = async (options: ShareOptions = {}): Promise<{ url: string; id: string }> => {
      if (!hasPasswords && !hasBearer && !this.knocking && !this.#oidc)
        throw new SvcError(
          'invalid_option',
          'a share link needs password, users, bearer, oidc or knock: without them everybody may come',
        )
      if (site.url === '') throw new SvcError('invalid_option', 'the site has no URL yet')
      const page = shareUrl(site.url, options.path)
      const { id, secret } = await shares.add(options)
      return { id, url: `${page}#${SHARE_FIELD}=${secret}` }
    }
    const unshare = (id: string): Promise<boolean> => {
      const removal = shares.remove(id)
      this.#live.endThose(({ subject }) => subject === SHARE_SUBJECT + id)
      return removal
    }
    const members = { share, unshare }
    return Object.defineProperty(Object.assign(site, members), 'shares', {
      get: () => shares.list,
    }) as S & Sharing
  }

  #endOf(subject: string): number {
    const { expiresAt } = this.#access
    if (!subject.startsWith(SHARE_SUBJECT)) return expiresAt
    return Math.min(expiresAt, this.#shares.endOf(subject.slice(SHARE_SUBJECT.length)))
  }

  async #answer(
    handler: FetchHandler,
    crossOrigin: CrossOrigin | undefined,
    request: Request,
    info: FetchInfo,
  ): Promise<Response> {
    const url = new URL(request.url)
    const address = info.remote?.address
    if (Date.now() >= this.#access.expiresAt) return notice(request, 410, 'The time of this site is over.')
    if (!isAdmitted(address, this.#access)) return notice(request, 403, 'This site is not for your network.')
    const network = address === undefined ? undefined : networkOf(address)
    const session =
      (await this.#sessions.of(request, url.host)) ?? (await this.knocking?.sessionOf(request, url.host))
    const wait = this.#visitors.waitOf(session?.id ?? `${network}`)
    if (wait !== undefined)
      return notice(request, 429, 'These are too many requests. Wait a little.', { 'Retry-After': `${wait}` })
    const report = (error: Error): void => info.waitUntil(Promise.reject(error))
    const visitor = { request, url, address, network, session, report }
    if (isOwnPath(url)) return (await this.knocking?.ownPath(visitor)) ?? this.#signIn.answer(visitor)
    const preflight = crossOrigin?.preflight(request)
    if (preflight) return preflight
    const entered: Admission | Response = session ?? (await this.#enter(visitor))
    if (!('id' in entered)) return crossOrigin?.readable(request, entered) ?? entered
    // The visitor may have signed out while the cookie was checked.
    if (session && !this.#sessions.isOpen(session)) return this.#refuse(visitor)
    // A browser adds a cookie and a password to what pages of other sites ask, but never a token.
    if ((session || !WITHOUT_FORGERY.has(entered.subject)) && isForged(request, url.origin))
      return textAnswer(403, 'This request comes from a page of another site')
    return this.#admit(handler, visitor, entered, info)
  }

  /** Lets the visitor in, unless others have every place. */
  async #admit(
    handler: FetchHandler,
    visitor: Visitor,
    entered: Admission,
    info: FetchInfo,
  ): Promise<Response> {
    const { request, url } = visitor
    // Without sessions, visitors of one network would be one.
    const isNew =
      entered.id.startsWith(ANYONE) && this.#access.maxVisitors !== undefined && isNavigation(request)
    const begun = isNew ? await this.#sessions.begin(url.host, ANYONE) : undefined
    const session = begun?.session ?? entered
    if (!this.#visitors.claim(session.id)) return notice(request, 403, TAKEN)
    if (!this.#visitors.admit(session.id, visitor.network))
      return notice(request, 503, 'This site has all the visitors that it takes. Try again later.', {
        'Retry-After': `${FULL_RETRY_S}`,
      })
    const user = this.#oidc?.userOf(session)
    const passed = this.#passedRequest(request, user)
    const known = user ? { ...info, user } : info
    const use = this.#live.use(session)
    const response = await passInSession(use, handler, passed, known, () => this.#refuse(visitor))
    const cookie = begun?.cookie ?? entered.cookie
    return cookie !== undefined && isResponse(response) ? withCookies(response, [cookie]) : response
  }

  /** Resolves with the session of a visitor without a cookie, which is that of all who send the same secret, or with a refusal. */
  async #enter(visitor: Visitor): Promise<Admission | Response> {
    const found = await this.#whoIs(visitor)
    if (found === 'too_many') return tooManyGuesses(visitor.request)
    if (typeof found === 'string') return (await this.knocking?.enter(visitor)) ?? this.#refuse(visitor)
    const { subject } = found
    const id = `${subject} ${visitor.network}`
    return { id, subject, issuedAt: Date.now(), expiresAt: this.#access.expiresAt }
  }

  /** A site for one visitor needs the session of that one, also when nobody has to know a password. */
  async #whoIs({ request, network }: Visitor): Promise<Authorized> {
    if (!this.#credentials.areNone) return this.#authorization.of(request, network)
    return this.#access.once ? 'absent' : { subject: ANYONE }
  }

  #closeInTime(closing: AbortController): void {
    const wait = this.#access.expiresAt - Date.now()
    if (wait === Number.POSITIVE_INFINITY) return
    const next = (): void => {
      if (wait > TIMER_MAX_MS) {
        this.#closeInTime(closing)
        return
      }
      this.#live.endThose(() => true)
      closing.abort()
    }
    // In Node, a site that has ended does not keep the process alive until then.
    Object(setTimeout(next, Math.min(wait, TIMER_MAX_MS))).unref?.()
  }

  async #refuse(visitor: Visitor): Promise<Response> {
    const { request, url } = visitor
    if (!isNavigation(request)) return unauthorized(request, url.origin, this.#credentials)
    return this.#signIn.refuse(visitor)
  }

  /**
   * Returns the request without the secrets of the site: the cookies, and the field by which the visitor came in. With OpenID Connect, it
   * names the user.
   */
  #passedRequest(request: Request, user: VisitorUser | undefined): Request {
    const isOwn = this.#authorization.isOwn(request)
    const headers = new Headers()
    for (const [name, value] of request.headers) {
      const kept = name === 'cookie' ? this.#withoutOwn(value) : value
      const isEmptied = kept === '' && value !== ''
      if (!isEmptied && !(isOwn && name === 'authorization')) headers.append(name, kept)
    }
    if (this.#oidc) setOwnFields(headers, { [USER_FIELD]: user?.subject, [EMAIL_FIELD]: user?.email })
    const { url, method, signal } = request
    return buildRequest(url, { method, headers, signal }, request.body ?? undefined)
  }

  #withoutOwn(cookies: string): string {
    let others = this.#sessions.without(cookies)
    if (this.knocking) others = this.knocking.without(others)
    return this.#oidc?.without(others) ?? others
  }
}

/**
 * Returns the URL of the sign-in page, which has the script for the secret whatever else visitors see at first.
 * @throws SvcError `invalid_option` for a path that is not the site's
 */
function shareUrl(site: string, path = '/'): URL {
  const url = new URL(ACCESS_PATH, site)
  const next = pathOf(path, url.origin)
  if (!path.startsWith('/') || (next === '/' && path !== '/'))
    throw new SvcError('invalid_option', 'path is a path of the site that begins with /')
  if (next !== '/') url.searchParams.set(FIELDS.next, next)
  return url
}

function isOwnPath({ pathname }: URL): boolean {
  return pathname === ACCESS_PATH || pathname.startsWith(`${ACCESS_PATH}/`)
}
