// Remembers what happened to the leases of each identity, and what administrators decided about it.

import type { LeaseEvent, PolicyStep, Routing } from '@svc/protocol'
import { now, toWallTime } from '../clock.ts'
import { NetworkCounts } from '../rate-limit/fair-share.ts'
import { decisionEvents } from './decision-events.ts'
import type { Lease, LeaseEnd } from './lease.ts'
import type { LeaseRegistry } from './lease-registry.ts'

/** Events of one identity. */
export const LEASE_EVENTS_MAX = 32
/** Identities with events, at some 100 bytes an event. Each network that registers leases has a share. */
const LEASE_HISTORIES_MAX = 8_192
/** How long the events of an identity without a lease are kept. */
export const LEASE_HISTORY_MS = 86_400_000
/** Interval at which old histories are removed. */
const SWEEP_MS: number = 10 * 60_000

/** What is known of an identity, to be kept over a restart. */
export interface StoredHistory {
  /** The newest first. */
  events: LeaseEvent[]
  /** Whether the identity has a lease. */
  isActive: boolean
  clientIp: string | undefined
  /** The network that registered its lease first; undefined when an administrator decided before. */
  network: string | undefined
  /** Relay time of the last event; of an identity with a lease, of the moment that it was stored at. */
  changedAt: number
}

interface History extends StoredHistory {
  /** Relay time at which the identity had a lease before a restart; its lease may go on at other machines. */
  hadLeaseAt?: number | undefined
}

interface HistoryParts {
  leases: Pick<LeaseRegistry, 'onChange'>
  routing: (lease: Lease) => Routing
  /** Whether leases go on at other machines when this one ends. @default false */
  isShared?: () => boolean
  /** Relay time, in milliseconds. @default that of the relay */
  now?: () => number
  /** @default LEASE_HISTORIES_MAX */
  max?: number
}

export class LeaseHistory {
  readonly #parts: Required<HistoryParts>
  readonly #histories = new Map<string, History>()
  readonly #perNetwork = new NetworkCounts()
  readonly #timer: NodeJS.Timeout
  #changes = 0

  constructor(parts: HistoryParts) {
    this.#parts = { now, max: LEASE_HISTORIES_MAX, isShared: () => false, ...parts }
    parts.leases.onChange((lease) => this.#changed(lease))
    this.#timer = setInterval(() => this.sweep(), SWEEP_MS).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Number of identities with events. */
  get size(): number {
    return this.#histories.size
  }

  /** A number that is another one after something happened. */
  get changes(): number {
    return this.#changes
  }

  /** What is known of each identity. */
  *stored(): Generator<[identityKey: string, history: StoredHistory]> {
    const at = this.#parts.now()
    for (const [key, history] of this.#histories)
      if (!this.#isOver(history)) yield [key, history.isActive ? { ...history, changedAt: at } : history]
  }

  /** Takes over what was stored before a restart, unless the identity is known already. */
  restore(identityKey: string, { events, isActive, clientIp, network, changedAt }: StoredHistory): void {
    const at = Math.min(changedAt, this.#parts.now())
    const old: History = { events, isActive: false, clientIp, network, changedAt: at }
    if (this.#histories.has(identityKey) || this.#isOver(old)) return
    const history = this.#historyOf(identityKey, network)
    if (history !== undefined) Object.assign(history, old, isActive && { hadLeaseAt: at })
  }

  /** The events of an identity, the newest first. */
  of(identityKey: string): readonly LeaseEvent[] {
    const known = this.#histories.get(identityKey)
    return known === undefined || this.#isOver(known) ? [] : known.events
  }

  /** Records what a change of the policy decided about identities. @param at RFC 3339 */
  decided(step: PolicyStep, at: string, by: string | undefined): void {
    for (const [identityKey, event] of decisionEvents(step, at, by))
      this.#add(this.#historyOf(identityKey, undefined), event)
  }

  /** Forgets the identities without a lease of which nothing happened within a day. */
  sweep(): void {
    for (const [key, history] of this.#histories) {
      if (!this.#isOver(history)) continue
      this.#histories.delete(key)
      if (history.network !== undefined) this.#perNetwork.add(history.network, -1)
    }
  }

  #changed(lease: Lease): void {
    const reason: LeaseEnd | undefined = lease.ended.aborted ? lease.ended.reason : undefined
    // The lease that takes its place is told of next.
    if (reason === 'replaced' || (reason === 'shutdown' && this.#parts.isShared())) return
    const history = this.#historyOf(lease.identityKey, lease.registeredFrom)
    if (history === undefined) return
    const at = this.#timestamp()
    const { clientIp: client_ip } = lease
    if (reason !== undefined) this.#add(history, { at, kind: 'ended', end: reason })
    else if (!history.isActive && !(lease.firstSeenAt <= (history.hadLeaseAt ?? 0))) {
      this.#add(history, { at, kind: 'registered', client_ip })
      if (this.#parts.routing(lease) === 'approval')
        this.#add(history, { at, kind: 'approval_requested', client_ip })
    } else if (history.clientIp !== client_ip) this.#add(history, { at, kind: 'address_changed', client_ip })
    history.hadLeaseAt = undefined
    history.isActive = reason === undefined
    history.clientIp = client_ip
  }

  #add(history: History | undefined, event: LeaseEvent): void {
    if (history === undefined) return
    this.#changes += 1
    history.events = [event, ...history.events].slice(0, LEASE_EVENTS_MAX)
    history.changedAt = this.#parts.now()
  }

  /** @returns undefined when there is no room for another identity of that network */
  #historyOf(identityKey: string, network: string | undefined): History | undefined {
    const known = this.#histories.get(identityKey)
    if (known !== undefined) return known
    const { max } = this.#parts
    const free = max - this.#histories.size
    const hasRoom = network === undefined ? free > 0 : this.#perNetwork.mayHave(1, network, free, max)
    if (!hasRoom) return undefined
    if (network !== undefined) this.#perNetwork.add(network, 1)
    const history: History = { events: [], isActive: false, clientIp: undefined, network, changedAt: 0 }
    this.#histories.set(identityKey, history)
    return history
  }

  #isOver({ isActive, changedAt }: History): boolean {
    return !isActive && this.#parts.now() - changedAt > LEASE_HISTORY_MS
  }

  #timestamp(): string {
    return new Date(toWallTime(this.#parts.now())).toISOString()
  }
}
