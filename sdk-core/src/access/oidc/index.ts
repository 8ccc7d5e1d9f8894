// Sign-in at an issuer of OpenID Connect, by the authorization code flow with PKCE. The code is loaded with the option `access.oidc`.

import type { VisitorUser } from '../../exchange/fetch-handler.ts'
import { macWith } from '../../handlers/sessions/mac.ts'
import type { Session } from '../../handlers/sessions/sessions.ts'
import { TokenBucket } from '../../timers/token-bucket.ts'
import { ACCESS_PATH, OIDC_CALLBACK_PATH } from '../answers.ts'
import { RecentMap } from '../recent-map.ts'
import type { Visitor } from '../visitor.ts'
import { notAllowed, notBegun, refused, signingOutThere, tooMany, unanswered } from './answers.ts'
import { Flows, withoutFlows } from './flows.ts'
import { Issuer, isVisitorsFault, unavailable } from './issuer.ts'
import {
  ID_TOKEN_MAX_CHARS,
  ID_TOKENS_MAX,
  NETWORK_FAILURES_BURST,
  NETWORK_FAILURES_PER_S,
  NETWORKS_MAX,
  RUNNING_MAX,
} from './limits.ts'
import type { CheckedOidc } from './options.ts'
import { isAllowed, subjectOf, userOf, userOfSubject } from './user.ts'

const KEY_BYTES = 32

/** A visitor who signed in and may come in. */
export interface SignedIn {
  /** The subject of the session. */
  subject: string
  next: string
  cookies: string[]
  /** Undefined when nobody needs it at the sign-out. */
  idToken: string | undefined
}

/** The answer of a step, with the cookies that it sets. */
export interface Step {
  location: string
  cookies: string[]
}

/** OidcSignIn leads visitors to the issuer, and takes them back. */
export class OidcSignIn {
  readonly #issuer: Issuer
  readonly #options: CheckedOidc
  readonly #flows: Flows
  readonly #failures = new RecentMap<TokenBucket>(NETWORKS_MAX)
  /** The ID tokens for the sign-out, by session. */
  readonly #idTokens = new RecentMap<string>(ID_TOKENS_MAX)
  #running = 0

  private constructor(issuer: Issuer, options: CheckedOidc) {
    this.#issuer = issuer
    this.#options = options
    this.#flows = new Flows(macWith(crypto.getRandomValues(new Uint8Array(KEY_BYTES))))
  }

  /** The issuer's host. */
  get issuer(): string {
    return this.#options.issuer.host
  }

  /** @throws SvcError `oidc_unavailable` */
  static async open(options: CheckedOidc): Promise<OidcSignIn> {
    return new OidcSignIn(await Issuer.discover(options), options)
  }

  /**
   * Begins a sign-in.
   * @param next the path to which the visitor returns
   * @param asOther whether the issuer asks again who the visitor is
   */
  async begin({ request, url }: Visitor, next: string, asOther = false): Promise<Step> {
    const { flow, cookies } = await this.#flows.begin(request, url.host, next)
    const location = await this.#issuer.signInUrl(flow, new URL(OIDC_CALLBACK_PATH, url.origin), asOther)
    return { location: location.href, cookies }
  }

  /** Ends a sign-in with what the issuer sent the visitor back with. */
  async end(visitor: Visitor): Promise<SignedIn | Response> {
    const { request, url, network } = visitor
    const flow = await this.#flows.of(request, url.host, url.searchParams.get('state') ?? '')
    const names = [...url.searchParams.keys()]
    if (!flow || new Set(names).size < names.length) return notBegun(request)
    const failures = network === undefined ? undefined : this.#failuresOf(network)
    if (this.#running >= RUNNING_MAX || failures?.take() === false) return tooMany(request)
    // The check is once more here: another request may have finished the sign-in meanwhile.
    if (!this.#flows.finish(flow)) return notBegun(request)
    const cookies = [this.#flows.end(flow.state)]
    this.#running += 1
    try {
      const callback = new URL(OIDC_CALLBACK_PATH + url.search, url.origin)
      const { claims, idToken } = await this.#issuer.claimsOf(callback, flow)
      const user = userOf(claims, this.#options)
      if (!user || !isAllowed(user, this.#options)) return notAllowed(request, user, cookies)
      failures?.refill(1)
      return { subject: subjectOf(user), next: flow.next, cookies, idToken }
    } catch (error) {
      if (isVisitorsFault(error)) return refused(request, error, cookies)
      visitor.report(unavailable('a sign-in at the issuer failed', error))
      return unanswered(request, cookies)
    } finally {
      this.#running -= 1
    }
  }

  /** Keeps the ID token of a session that has begun. */
  begun({ id }: Session, { idToken }: SignedIn): void {
    if (idToken !== undefined && idToken.length <= ID_TOKEN_MAX_CHARS) this.#idTokens.set(id, idToken)
  }

  /** Forgets the ID token of a session that has ended. */
  ended({ id }: Session): void {
    this.#idTokens.delete(id)
  }

  /** Returns the answer that leads a visitor who signs out to the issuer's own sign-out; undefined when there is none. */
  signOut(request: Request, session: Session): Response | undefined {
    if (!this.userOf(session)) return undefined
    const after = new URL(ACCESS_PATH, request.url).href
    const url = this.#issuer.signOutUrl(after, this.#idTokens.get(session.id))
    return url && signingOutThere(request, url.href)
  }

  /** Returns who signed in at the issuer; undefined for the session of another way to come in. */
  userOf({ subject }: Session): VisitorUser | undefined {
    return userOfSubject(subject)
  }

  /** Returns a Cookie field without the cookies of sign-ins. */
  without(cookies: string): string {
    return withoutFlows(cookies)
  }

  #failuresOf(network: string): TokenBucket {
    const make = (): TokenBucket => new TokenBucket(NETWORK_FAILURES_BURST, NETWORK_FAILURES_PER_S)
    return this.#failures.get(network, make)
  }
}
