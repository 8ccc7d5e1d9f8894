// The paths of the sign-in: the page, the form, and the sign-out.

import { withCookies } from '../handlers/cookies.ts'
import { textAnswer, UNCACHED } from '../handlers/sessions/answers.ts'
import { readText } from '../handlers/sessions/bounded-text.ts'
import type { LiveSessions } from '../handlers/sessions/live-sessions.ts'
import { isForeign } from '../handlers/sessions/origin-checks.ts'
import type { Session, Sessions } from '../handlers/sessions/sessions.ts'
import { ACCESS_PATH, GUESS_RETRY_S, TAKEN } from './answers.ts'
import type { Credentials } from './credentials.ts'
import type { GuessLimiter } from './guess-limiter.ts'
import { BODY_MAX_BYTES, PASSWORD_MAX_CHARS } from './limits.ts'
import { FIELDS, signedInPage, signInPage } from './sign-in-page.ts'
import type { Visitors } from './visitors.ts'

/** A Visitor is who sent a request, as far as that is known. */
export interface Visitor {
  readonly request: Request
  readonly url: URL
  /** The network of the visitor's address. Undefined when that is unknown. */
  readonly network: string | undefined
  readonly session: Session | undefined
}

export interface SignInParts {
  credentials: Credentials
  limiter: GuessLimiter
  sessions: Sessions
  live: LiveSessions
  visitors: Visitors
}

type Action = (visitor: Visitor) => Promise<Response>

/** SignIn answers all requests for the paths of the sign-in. */
export class SignIn {
  readonly #parts: SignInParts
  readonly #actions: Readonly<Record<string, Action>> = {
    'sign-in': (visitor) => this.#signIn(visitor),
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
      return session ? signedInPage(request) : this.page(visitor, { status: 200, next: '/' })
    }
    const name = url.pathname.slice(ACCESS_PATH.length + 1)
    if (!Object.hasOwn(this.#actions, name)) return textAnswer(404, 'There is nothing here')
    if (method !== 'POST') return wrongMethod('POST')
    if (isForeign(request, url.origin))
      return textAnswer(403, 'This request comes from a page of another site')
    return this.#actions[name]!(visitor)
  }

  /** Returns the page with the form. By default it is in place of the requested one, to which the visitor returns. */
  page({ request, url }: Visitor, page: Partial<Parameters<typeof signInPage>[2]> = {}): Response {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const next = isRead ? url.pathname + url.search : '/'
    return signInPage(request, this.#parts.credentials, { next, ...page })
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

  /** Begins a session with an id that nobody knew before, and ends the one that the browser had. */
  async #begin(visitor: Visitor, subject: string, next: string): Promise<Response> {
    const { sessions, visitors } = this.#parts
    const { url, session: before } = visitor
    const { session, cookie } = await sessions.begin(url.host, subject)
    if (before) {
      visitors.move(before.id, session.id)
      this.#end(before)
    }
    if (!visitors.claim(session.id)) return this.page(visitor, { status: 403, next, problem: TAKEN })
    return withCookies(seeOther(url.origin + next), [cookie])
  }

  async #signOut({ url, session }: Visitor): Promise<Response> {
    const answer = seeOther(url.origin + ACCESS_PATH)
    return session ? withCookies(answer, [this.#end(session)]) : answer
  }

  #end(session: Session): string {
    const { sessions, live, visitors } = this.#parts
    const cookie = sessions.end(session)
    live.end(session.id)
    visitors.leave(session.id)
    return cookie
  }
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
