// What the relay counts as it goes along: plain integers, read when somebody asks for metrics.

import type { ErrorCode } from '@svc/protocol'
import type { Refusal } from '../ingress/connection-limiter.ts'
import type { MemoryBound } from '../reverse/session-memory.ts'

/** One number for each combination of labels; both come from fixed sets, so that their product is the bound. */
export class LabeledCounter<Labels extends Record<string, string>> {
  readonly #counts = new Map<string, { labels: Labels; count: number }>()

  add(labels: Labels, more = 1): void {
    const key = Object.values(labels).join(' ')
    const entry = this.#counts.get(key)
    if (entry === undefined) this.#counts.set(key, { labels, count: more })
    else entry.count += more
  }

  /** What was counted since this was last asked; it begins at 0 again. */
  take(): { labels: Labels; count: number }[] {
    const counted = [...this.#counts.values()]
    this.#counts.clear()
    return counted
  }

  [Symbol.iterator](): Iterator<{ labels: Labels; count: number }> {
    return this.#counts.values()
  }
}

/** Why a datagram went no further. */
export type DatagramDrop =
  /** From a visitor: nobody is there for it, or the lease may not be reached. */
  | 'no_tunnel'
  | 'not_routed'
  /** No room for another flow. */
  | 'flow_limit'
  /** Larger than the path to the tenant takes. */
  | 'too_large'
  /** The QUIC library, the kernel or this process has no room. */
  | 'queue_full'
  /** The lease's packets, or the identity's bytes, a second. */
  | 'rate_limit'
  | 'bandwidth'
  /** From a tenant: before its token, without a flow id, or for a flow that there is not. */
  | 'unauthenticated'
  | 'malformed'
  | 'unknown_flow'
  /** More than the visitor's own datagrams entitle it to. */
  | 'amplification'

/** What was counted in another process, to be added up: gauges as what they have changed by. */
export interface CounterDelta {
  claimsWaited: number
  claimsFailed: number
  activations: number
  sessionsLost: number
  visitorsDisplaced: number
  carriers: number
  silentElsewhere: number
  refused: { labels: { reason: Refusal }; count: number }[]
  memoryRelieved: { labels: { bound: MemoryBound }; count: number }[]
  requests: { labels: { route: string; status: string }; count: number }[]
  refusals: { labels: { code: ErrorCode }; count: number }[]
}

export class RelayCounters {
  /** Visitors for whom no session was ready, and those who got none in time. */
  claimsWaited = 0
  claimsFailed = 0
  activations = 0
  /** Sessions that broke before they answered their visitor. */
  sessionsLost = 0
  /** Visitors of a source with more than its share, who gave way to another. */
  visitorsDisplaced = 0
  /** WebSockets and native sessions that are open. */
  carriers = 0
  /** Connections to other processes of this relay that have not said whom they want. */
  silentElsewhere = 0
  /** Of visitors, and to them. */
  datagramsIn = 0
  datagramsOut = 0
  tunnels = 0
  flows = 0
  /** Connections that were turned away before they said anything. */
  readonly connectionsRefused: LabeledCounter<{ reason: Refusal }> = new LabeledCounter()
  /** Bounds of what WebSockets may hold that were exceeded. */
  readonly memoryRelieved: LabeledCounter<{ bound: MemoryBound }> = new LabeledCounter()
  readonly datagramsDropped: LabeledCounter<{ reason: DatagramDrop }> = new LabeledCounter()
  /** Routes are those of the routing table. */
  readonly requests: LabeledCounter<{ route: string; status: string }> = new LabeledCounter()
  readonly refusals: LabeledCounter<{ code: ErrorCode }> = new LabeledCounter()
  readonly signatures: LabeledCounter<{ outcome: 'signed' | 'refused' | 'failed' }> = new LabeledCounter()

  /** Datagrams that went no further in another process. */
  drop(counts: Partial<Record<DatagramDrop, number>>): void {
    for (const [reason, count] of Object.entries(counts) as [DatagramDrop, number][])
      if (count > 0) this.datagramsDropped.add({ reason }, count)
  }

  /** The counters since this was last asked; they begin at 0 again. Gauges stay. */
  take(): Omit<CounterDelta, 'carriers' | 'silentElsewhere'> {
    const { claimsWaited, claimsFailed, activations, sessionsLost, visitorsDisplaced } = this
    this.claimsWaited = 0
    this.claimsFailed = 0
    this.activations = 0
    this.sessionsLost = 0
    this.visitorsDisplaced = 0
    return {
      claimsWaited,
      claimsFailed,
      activations,
      sessionsLost,
      visitorsDisplaced,
      refused: this.connectionsRefused.take(),
      memoryRelieved: this.memoryRelieved.take(),
      requests: this.requests.take(),
      refusals: this.refusals.take(),
    }
  }

  add(change: CounterDelta): void {
    this.claimsWaited += change.claimsWaited
    this.claimsFailed += change.claimsFailed
    this.activations += change.activations
    this.sessionsLost += change.sessionsLost
    this.visitorsDisplaced += change.visitorsDisplaced
    this.carriers += change.carriers
    this.silentElsewhere += change.silentElsewhere
    for (const { labels, count } of change.refused) this.connectionsRefused.add(labels, count)
    for (const { labels, count } of change.memoryRelieved) this.memoryRelieved.add(labels, count)
    for (const { labels, count } of change.requests) this.requests.add(labels, count)
    for (const { labels, count } of change.refusals) this.refusals.add(labels, count)
  }
}
