// Who is there: the first visitor of a site for one, the most at once, and the rate of each.

import type { LiveSessions } from '../handlers/sessions/live-sessions.ts'
import { TokenBucket } from '../timers/token-bucket.ts'
import { RATED_VISITORS_MAX, VISITOR_IDLE_MS } from './limits.ts'
import type { CheckedAccess } from './options.ts'
import { RecentMap } from './recent-map.ts'

interface Place {
  /** The time of the last request. */
  at: number
  network: string | undefined
}

export class Visitors {
  readonly #access: CheckedAccess
  readonly #live: LiveSessions
  readonly #buckets = new RecentMap<TokenBucket>(RATED_VISITORS_MAX)
  /** The visitors who are there, in the order of their last requests, when their number is limited. */
  readonly #there = new Map<string, Place>()
  /** The visitor for whom the site is, once there is one. */
  #first: string | undefined

  constructor(access: CheckedAccess, live: LiveSessions) {
    this.#access = access
    this.#live = live
  }

  /** Returns undefined when the visitor may send a request now, and otherwise the seconds to wait. */
  waitOf(id: string): number | undefined {
    const { rate } = this.#access
    if (!rate) return undefined
    const bucket = this.#buckets.get(id, () => new TokenBucket(rate.burst, rate.perSecond))
    return bucket.take() ? undefined : Math.ceil(1 / rate.perSecond)
  }

  /** Returns whether a site for one visitor is for this one. Then it is for nobody else. */
  claim(id: string): boolean {
    if (!this.#access.once) return true
    this.#first ??= id
    return this.#first === id
  }

  /** Gives the place of a visitor to the same visitor's new session. */
  move(from: string, to: string): void {
    if (this.#first === from) this.#first = to
    this.#there.delete(from)
  }

  /** Returns whether there is a place for the visitor, who then has it. */
  admit(id: string, network: string | undefined): boolean {
    const { maxVisitors } = this.#access
    if (maxVisitors === undefined) return true
    if (!this.#there.delete(id) && this.#there.size >= maxVisitors && !this.#makeRoom(network)) return false
    this.#there.set(id, { at: Date.now(), network })
    return true
  }

  /** Frees the place of a visitor who signed out. */
  leave(id: string): void {
    this.#there.delete(id)
  }

  /** Removes who is idle, or else one of the network with the most visitors, if these have more than the newcomer's would. */
  #makeRoom(network: string | undefined): boolean {
    const idleSince = Date.now() - VISITOR_IDLE_MS
    const quiet = [...this.#there].filter(([id]) => !this.#live.has(id))
    const idle = quiet.filter(([, { at }]) => at <= idleSince)
    for (const [id] of idle) this.#there.delete(id)
    if (idle.length > 0) return true
    const counts = new Map<string | undefined, number>()
    for (const { network: its } of this.#there.values()) counts.set(its, (counts.get(its) ?? 0) + 1)
    const own = (counts.get(network) ?? 0) + 1
    const most = Math.max(...counts.values())
    const [moved] = quiet.filter(([, { network: its }]) => counts.get(its) === most)
    if (most <= own || !moved) return false
    this.#there.delete(moved[0])
    return true
  }
}
