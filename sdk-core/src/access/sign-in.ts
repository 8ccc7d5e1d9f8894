// The paths of the sign-in: the page, the form, and the sign-out.

import { readJson, readText } from '../bytes/bounded-text.ts'
import { isRecord } from '../control/json-checks.ts'
import { withCookies } from '../handlers/cookies.ts'
import { errorAnswer, jsonAnswer, textAnswer, UNCACHED } from '../handlers/sessions/answers.ts'
import type { LiveSessions } from '../handlers/sessions/live-sessions.ts'
import { isForeign } from '../handlers/sessions/origin-checks.ts'
import type { Session, Sessions } from '../handlers/sessions/sessions.ts'
import { ACCESS_PATH, GUESS_RETRY_S, OIDC_CALLBACK_PATH, OIDC_PATH, TAKEN } from './answers.ts'
import type { Credentials } from './credentials.ts'
import type { GuessLimiter } from './guess-limiter.ts'
import { BODY_MAX_BYTES, PASSWORD_MAX_CHARS } from './limits.ts'
import type { OidcSignIn } from './oidc/index.ts'
import type { ShareLinks } from './share-links.ts'
import { FIELDS, signedInPage, signInPage } from './sign-in-page.ts'
import type { Visitor } from './visitor.ts'
import type { Visitors } from './visitors.ts'

export interface SignInParts {
  credentials: Credentials
  limiter: GuessLimiter
  sessions: Sessions
  live: LiveSessions
  visitors: Visitors
  /** The sign-in at an issuer of OpenID Connect, if the site has one. */
  oidc: OidcSignIn | undefined
  shares: ShareLinks
}

/** What the subject of a session by a share link begins with; its id follows. */
export const SHARE_SUBJECT = 'share-'

type Action = (visitor: Visitor) => Promise<Response>

/** SignIn answers all requests for the paths of the sign-in. */
export class SignIn {
  readonly #parts: SignInParts
  readonly #actions: Readonly<Record<string, Action>> = {
    'sign-in': (visitor) => this.#signIn(visitor),
    share: (visitor) => this.#share(visitor),
    'sign-out': (visitor) => this.#signOut(visitor),
  }

  constructor(parts: SignInParts) {
    this.#parts = parts
  }

  async answer(visitor: Visitor): Promise<Response> {
    const { request, url, session } = visitor
    const { method } = request
    if (url.pathname === ACCESS_PATH) {
      if (method !== 'GET' && method !== 'HEAD') return wrongMethod('GET, HEAD')
      const next = pathOf(url.searchParams.get(FIELDS.next) ?? '/', url.origin)
      return session ? signedInPage(request, next) : this.page(visitor, { status: 200, next })
    }
    const { oidc } = this.#parts
    if (oidc && (url.pathname === OIDC_PATH || url.pathname === OIDC_CALLBACK_PATH)) {
      if (method !== 'GET') return wrongMethod('GET')
      return url.pathname === OIDC_PATH ? this.#leave(visitor, oidc) : this.#return(visitor, oidc)
    }
    const name = url.pathname.slice(ACCESS_PATH.length + 1)
    if (!Object.hasOwn(this.#actions, name)) return textAnswer(404, 'There is nothing here')
    if (method !== 'POST') return wrongMethod('POST')
    if (isForeign(request, url.origin))
      return textAnswer(403, 'This request comes from a page of another site')
    return this.#actions[name]!(visitor)
  }

  /** Resolves with what is in place of the requested page: the way to the issuer when there is no other way to come in, else the page. */
  async refuse(visitor: Visitor): Promise<Response> {
    const { credentials, oidc } = this.#parts
    return oidc && !credentials.hasPasswords && !credentials.canKnock
      ? this.#leave(visitor, oidc)
      : this.page(visitor)
  }

  /** Returns the page with the form. By default it is in place of the requested one, to which the visitor returns. */
  page({ request, url }: Visitor, page: Partial<Parameters<typeof signInPage>[2]> = {}): Response {
    const { credentials, oidc } = this.#parts
    return signInPage(request, credentials, { next: placeOf(request, url), issuer: oidc?.issuer, ...page })
  }

  /** Sends the visitor to the issuer. */
  async #leave(visitor: Visitor, oidc: OidcSignIn): Promise<Response> {
    const { request, url } = visitor
    const isOwn = url.pathname === OIDC_PATH
    const next = isOwn ? pathOf(url.searchParams.get(FIELDS.next) ?? '/', url.origin) : placeOf(request, url)
    const { location, cookies } = await oidc.begin(visitor, next, isOwn && url.searchParams.has('other'))
    // Without a fragment of its own, the address would get that of the requested page, which is not for the issuer.
    return withCookies(seeOther(`${location}#`), cookies)
  }

  /** Takes the visitor back from the issuer. */
  async #return(visitor: Visitor, oidc: OidcSignIn): Promise<Response> {
    const signedIn = await oidc.end(visitor)
    if (!('subject' in signedIn)) return signedIn
    const { subject, next, cookies } = signedIn
    const begun = (session: Session): void => oidc.begun(session, signedIn)
    return withCookies(await this.#begin(visitor, subject, next, begun), cookies)
  }

  async #signIn(visitor: Visitor): Promise<Response> {
    const { request, url } = visitor
    const form = new URLSearchParams((await readText(request.body, BODY_MAX_BYTES)) ?? '')
    const next = pathOf(form.get(FIELDS.next) ?? '/', url.origin)
    const { credentials, limiter } = this.#parts
    // Without a password, the form has a button alone, which programs that look at links do not press.
    if (credentials.areNone) return this.#begin(visitor, 'anyone', next)
    const guess = limiter.take(visitor.network)
    if (!guess) {
      const problem = 'There were too many attempts. Wait a little, and try again.'
      return this.page(visitor, {
        next,
        status: 429,
        problem,
        headers: { 'Retry-After': `${GUESS_RETRY_S}` },
      })
    }
    const password = form.get(FIELDS.password) ?? ''
    const user = form.get(FIELDS.user) ?? ''
    const isTooLong = Math.max(password.length, user.length) > PASSWORD_MAX_CHARS
    const subject = isTooLong ? undefined : await credentials.subjectOf(user, password)
    if (subject === undefined) return this.page(visitor, { next, problem: 'That is not right. Try again.' })
    guess.right()
    return this.#begin(visitor, subject, next)
  }

  /** Exchanges the secret of a share link for a session. It is too long to be guessed, so that attempts are not counted. */
  async #share(visitor: Visitor): Promise<Response> {
    const { request } = visitor
    if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? ''))
      return errorAnswer(415, 'invalid_request', 'The secret has to be in JSON.')
    const body = await readJson(request.body, BODY_MAX_BYTES)
    const secret = isRecord(body) ? body.secret : undefined
    const id = typeof secret === 'string' ? await this.#use(secret, visitor) : undefined
    if (id === undefined)
      return errorAnswer(
        403,
        'share_ended',
        'This link is of no use any more. Ask who gave it to you for another one.',
      )
    const { cookie, isTaken } = await this.#newSession(visitor, `${SHARE_SUBJECT}${id}`)
    return isTaken ? errorAnswer(403, 'taken', TAKEN) : jsonAnswer(200, {}, { cookies: [cookie] })
  }

  /**
   * Resolves with the id of a share link; undefined also when the store cannot write the use, since the link could
   * otherwise be used once too often after a restart.
   */
  async #use(secret: string, { address, report }: Visitor): Promise<string | undefined> {
    try {
      return await this.#parts.shares.use(secret, address)
    } catch (error) {
      report(error as Error)
      return undefined
    }
  }

  /** @param begun called with the session */
  async #begin(
    visitor: Visitor,
    subject: string,
    next: string,
    begun?: (session: Session) => void,
  ): Promise<Response> {
    const { session, cookie, isTaken } = await this.#newSession(visitor, subject)
    if (isTaken) return this.page(visitor, { status: 403, next, problem: TAKEN })
    begun?.(session)
    return withCookies(seeOther(visitor.url.origin + next), [cookie])
  }

  /** Begins a session with an id that nobody knew before, and ends the one that the browser had. */
  async #newSession(
    { url, session: before }: Visitor,
    subject: string,
  ): Promise<{ session: Session; cookie: string; isTaken: boolean }> {
    const { sessions, visitors } = this.#parts
    const { session, cookie } = await sessions.begin(url.host, subject)
    if (before) {
      visitors.move(before.id, session.id)
      this.#end(before)
    }
    return { session, cookie, isTaken: !visitors.claim(session.id) }
  }

  async #signOut({ request, url, session }: Visitor): Promise<Response> {
    const answer =
      (session && this.#parts.oidc?.signOut(request, session)) ?? seeOther(url.origin + ACCESS_PATH)
    return session ? withCookies(answer, [this.#end(session)]) : answer
  }

  #end(session: Session): string {
    const { sessions, live, visitors, oidc } = this.#parts
    const cookie = sessions.end(session)
    oidc?.ended(session)
    live.end(session.id)
    visitors.leave(session.id)
    return cookie
  }
}

/** Returns the path and query of what was asked for, to which a visitor can return. */
function placeOf({ method }: Request, url: URL): string {
  return method === 'GET' || method === 'HEAD' ? url.pathname + url.search : '/'
}

/** Returns the path and query of a place at this origin, and `/` for any other: a form's field may have come from anywhere. */
export function pathOf(next: string, origin: string): string {
  const url = URL.parse(next, origin)
  if (url?.origin !== origin || url.pathname.startsWith(ACCESS_PATH)) return '/'
  return url.pathname + url.search
}

/** The address is absolute, because a path may begin with two slashes, which would name another host. */
export function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { ...UNCACHED, Location: location } })
}

function wrongMethod(allowed: string): Response {
  return textAnswer(405, `This path takes ${allowed}`, { Allow: allowed })
}
