// Visitors without a session knock, and come in when the owner says so.

import { withCookies } from '../../handlers/cookies.ts'
import { textAnswer } from '../../handlers/sessions/answers.ts'
import { SESSION_MS } from '../../handlers/sessions/limits.ts'
import type { Mac } from '../../handlers/sessions/mac.ts'
import { isForeign, isNavigation } from '../../handlers/sessions/origin-checks.ts'
import type { Session, Sessions } from '../../handlers/sessions/sessions.ts'
import { networkOf, parseAddress } from '../network.ts'
import { RecentMap } from '../recent-map.ts'
import { pathOf, seeOther } from '../sign-in.ts'
import type { Visitor } from '../visitor.ts'
import { browserOf } from './browser.ts'
import { ANSWERS_MAX, HOLD_MS, KNOCK_MS, PATH_MAX_CHARS, WAIT_MAX_S } from './limits.ts'
import * as pages from './pages.ts'
import type { Knocker, Verdict } from './place.ts'
import { type Ticket, Tickets, withoutTicket } from './tickets.ts'
import type { KnockingVisitor } from './visitor.ts'
import { WaitingList } from './waiting-list.ts'

/** The time in which a page that waited learns that its time is over, in milliseconds. Whoever comes later asks anew. */
const OVER_MS = 60_000
/** RFC 7240 §4.3. */
const WAIT = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,5})"?\s*(?=[,;]|$)/i

export interface KnockingParts {
  mac: Mac
  sessions: Sessions
  /** Whether visitors may also sign in with a password. */
  canSignIn: boolean
}

/** An Admission is the session of a browser that the owner let in, and the value of `Set-Cookie` for one that has no ticket yet. */
export interface Admission extends Session {
  readonly cookie?: string | undefined
}

export class Knocking {
  /** Called with each visitor who knocks. */
  onKnock: (visitor: KnockingVisitor) => void = () => {}
  readonly #parts: KnockingParts
  readonly #tickets: Tickets
  readonly #list: WaitingList
  /** The sessions of tickets that were let in. */
  readonly #admitted = new RecentMap<Session>(ANSWERS_MAX)
  /** The tickets that were refused. One that was refused once has no use any more; its browser gets another after a while. */
  readonly #refused = new RecentMap<true>(ANSWERS_MAX)
  readonly #refusedForGood = new RecentMap<true>(ANSWERS_MAX)

  constructor(parts: KnockingParts) {
    this.#parts = parts
    this.#tickets = new Tickets(parts.mac)
    this.#list = new WaitingList({
      knocked: (place) => queueMicrotask(() => this.onKnock(place)),
      answered: (knocker, verdict) => this.#answered(knocker, verdict),
    })
  }

  /** The visitors who wait, oldest first. */
  get visitors(): readonly KnockingVisitor[] {
    return this.#list.places
  }

  /** Ends the waiting of all: nobody will answer. */
  close(): void {
    this.#list.close()
  }

  /** Resolves with the session of a browser that was let in. */
  async sessionOf(request: Request, host: string): Promise<Session | undefined> {
    const ticket = await this.#tickets.of(request, host)
    const session = ticket && this.#admitted.get(ticket.key)
    if (!session || this.#parts.sessions.isOpen(session)) return session
    this.#admitted.delete(ticket.key) // The visitor has signed out.
    return undefined
  }

  /** Returns a Cookie field without tickets. */
  without(cookies: string): string {
    return withoutTicket(cookies)
  }

  /** Resolves with the answer at the path of the button; undefined at other paths. */
  async ownPath({ request, url }: Visitor): Promise<Response | undefined> {
    if (url.pathname !== pages.KNOCK_PATH) return undefined
    const { origin, host } = url
    const next = pathOf(url.searchParams.get('next') ?? '/', origin)
    if (request.method === 'POST') {
      if (isForeign(request, origin)) return textAnswer(403, 'This request comes from a page of another site')
      const { cookie } = await this.#tickets.issue(host)
      return withCookies(seeOther(pages.checkUrl(origin, next)), [cookie])
    }
    if (await this.#tickets.of(request, host)) return seeOther(origin + next)
    return pages.cookiesNeeded(this.#asked(request, origin))
  }

  /** Resolves with the session once the visitor is let in, or with an answer; undefined when the visitor should sign in. */
  async enter(visitor: Visitor): Promise<Admission | Response | undefined> {
    const { request, url, address, network } = visitor
    const asked = this.#asked(request, url.origin)
    const ticket = await this.#tickets.of(request, url.host)
    const waitMs = waitOf(request)
    const knocks = isNavigation(request) ? ticket : waitMs
    if (asked.canSignIn && knocks === undefined) return undefined
    if (network !== undefined && this.#refusedForGood.get(network)) return pages.refused(asked)
    if (ticket && this.#refusedForGood.get(ticket.key)) return pages.refused(asked)
    const current = ticket && Date.now() < ticket.issuedAt + KNOCK_MS ? ticket : undefined
    if (current && this.#refused.get(current.key)) return pages.refused(asked)
    if (isNavigation(request)) return this.#navigate(visitor, asked, address, ticket, current)
    if (waitMs === undefined) return pages.programAnswer(asked)
    return this.#holdProgram(visitor, asked, address, current, waitMs)
  }

  #asked(request: Request, origin: string): pages.Asked {
    return { request, origin, canSignIn: this.#parts.canSignIn }
  }

  /** @param current the ticket, unless its time is over */
  async #navigate(
    { request, url, network }: Visitor,
    asked: pages.Asked,
    address: string | undefined,
    ticket: Ticket | undefined,
    current: Ticket | undefined,
  ): Promise<Admission | Response | undefined> {
    if (!current) {
      const { cookie } = await this.#tickets.issue(url.host)
      const isOver = ticket && Date.now() < ticket.issuedAt + KNOCK_MS + OVER_MS
      if (isOver) return pages.unansweredPage(asked, cookie)
      return asked.canSignIn ? undefined : pages.firstPage(asked, nextOf(request, url), cookie)
    }
    const waiting = this.#list.get(current.key)
    if (!waiting) {
      const place = this.#list.add(knockerOf(request, url, current.key, address, network))
      place?.touch()
      return place ? pages.waitingPage(asked, place.code) : pages.crowdedPage(asked)
    }
    await waiting.wait(HOLD_MS, request.signal)
    return this.#outcome(asked, current) ?? pages.waitingPage(asked, waiting.code)
  }

  async #holdProgram(
    { request, url, network }: Visitor,
    asked: pages.Asked,
    address: string | undefined,
    current: Ticket | undefined,
    waitMs: number,
  ): Promise<Admission | Response> {
    const issued = current ? undefined : await this.#tickets.issue(url.host)
    const ticket = current ?? issued!.ticket
    const knocker = knockerOf(request, url, ticket.key, address, network)
    const place = this.#list.get(ticket.key) ?? this.#list.add(knocker)
    if (!place) return pages.programCrowded()
    await place.wait(waitMs, request.signal)
    // Nobody has the cookie of a program that left before it got it.
    if (request.signal.aborted && issued) place.end()
    const outcome = this.#outcome(asked, ticket)
    if (outcome === undefined) return pages.programAnswer(asked, issued?.cookie, place.code)
    return 'id' in outcome ? { ...outcome, cookie: issued?.cookie } : outcome
  }

  /** Returns what the owner answered; undefined when that is nothing yet. */
  #outcome(asked: pages.Asked, { key }: Ticket): Admission | Response | undefined {
    const isRefused = this.#refused.get(key) ?? this.#refusedForGood.get(key)
    return isRefused ? pages.refused(asked) : this.#admitted.get(key)
  }

  #answered({ key, network }: Knocker, { isAdmitted, always }: Verdict): void {
    if (isAdmitted) {
      const issuedAt = Date.now()
      const expiresAt = always ? Number.POSITIVE_INFINITY : issuedAt + SESSION_MS
      this.#admitted.set(key, { id: `knock-${key}`, subject: `knock-${key}`, issuedAt, expiresAt })
    } else if (always) {
      this.#refusedForGood.set(key, true)
      if (network === undefined) return
      this.#refusedForGood.set(network, true)
      for (const place of this.#list.places) if (place.knocker.network === network) place.end()
    } else this.#refused.set(key, true)
  }
}

/** Returns the path to which a visitor returns. */
function nextOf({ method }: Request, { pathname, search }: URL): string {
  return method === 'GET' || method === 'HEAD' ? pathname + search : '/'
}

function knockerOf(
  { headers }: Request,
  { pathname }: URL,
  key: string,
  address: string | undefined,
  network: string | undefined,
): Knocker {
  const path = pathname.length > PATH_MAX_CHARS ? `${pathname.slice(0, PATH_MAX_CHARS)}…` : pathname
  const wide = address === undefined ? '' : wideNetworkOf(address)
  return { key, address, network, wide, browser: browserOf(headers.get('user-agent')), path }
}

/** Returns the name of a larger network: 16 bits of IPv4, or 32 of IPv6. */
function wideNetworkOf(address: string): string {
  const bytes = parseAddress(address)
  return bytes === undefined ? networkOf(address) : bytes.slice(0, bytes.length === 4 ? 2 : 4).join('.')
}

/** Returns for how long a program waits, in milliseconds; undefined when it does not. */
function waitOf({ headers }: Request): number | undefined {
  const seconds = WAIT.exec(headers.get('prefer') ?? '')?.[1]
  return seconds === undefined ? undefined : Math.min(Number(seconds), WAIT_MAX_S) * 1000
}
