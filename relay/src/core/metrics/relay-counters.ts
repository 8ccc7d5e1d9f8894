// Counts what the relay does, in plain integers that a scrape reads.

import type { ErrorCode } from '@svc/protocol'
import type { DatagramDrop, MemoryBound, Refusal } from './labels.ts'

/** One number for each combination of labels. Labels come from fixed sets, which bounds the combinations. */
export class LabeledCounter<Labels extends Record<string, string>> {
  readonly #counts = new Map<string, { labels: Labels; count: number }>()

  add(labels: Labels, more = 1): void {
    const key = Object.values(labels).join(' ')
    const entry = this.#counts.get(key)
    if (entry === undefined) this.#counts.set(key, { labels, count: more })
    else entry.count += more
  }

  /** Returns the counts since the last call and resets them to 0. */
  take(): { labels: Labels; count: number }[] {
    const counted = [...this.#counts.values()]
    this.#counts.clear()
    return counted
  }

  [Symbol.iterator](): Iterator<{ labels: Labels; count: number }> {
    return this.#counts.values()
  }
}

/** Counts of another process, to be added to those of this one. Gauges hold the change since the last report. */
export interface CounterDelta {
  claimsWaited: number
  claimsFailed: number
  activations: number
  sessionsLost: number
  visitorsDisplaced: number
  carriers: number
  silentInPeers: number
  refused: { labels: { reason: Refusal }; count: number }[]
  memoryRelieved: { labels: { bound: MemoryBound }; count: number }[]
  requests: { labels: { route: string; status: string }; count: number }[]
  refusals: { labels: { code: ErrorCode }; count: number }[]
}

export class RelayCounters {
  /** Visitors who had to wait for a ready session, and those who got none in time. */
  claimsWaited = 0
  claimsFailed = 0
  activations = 0
  /** Sessions that broke before they answered their visitor's ClientHello. */
  sessionsLost = 0
  /** Visitors closed for another one, since their network had more than its share. */
  visitorsDisplaced = 0
  /** Open WebSockets and native sessions. */
  carriers = 0
  /** Connections to peer processes that have sent no server name yet. */
  silentInPeers = 0
  /** Datagrams from visitors, and to them. */
  datagramsIn = 0
  datagramsOut = 0
  tunnels = 0
  flows = 0
  /** Connections that the relay closed before routing. */
  readonly connectionsRefused: LabeledCounter<{ reason: Refusal }> = new LabeledCounter()
  /** Session memory limits that WebSockets exceeded. */
  readonly memoryRelieved: LabeledCounter<{ bound: MemoryBound }> = new LabeledCounter()
  readonly datagramsDropped: LabeledCounter<{ reason: DatagramDrop }> = new LabeledCounter()
  /** Routes are paths of the API's routing table. */
  readonly requests: LabeledCounter<{ route: string; status: string }> = new LabeledCounter()
  readonly refusals: LabeledCounter<{ code: ErrorCode }> = new LabeledCounter()
  /**
   * Visitors of `/go/`, by where they were led: to a site of this relay, to another relay, nowhere, or put off since too many
   * came.
   */
  readonly goVisits: Record<'here' | 'elsewhere' | 'nowhere' | 'busy', number> = {
    here: 0,
    elsewhere: 0,
    nowhere: 0,
    busy: 0,
  }
  readonly signatures: LabeledCounter<{ outcome: 'signed' | 'refused' | 'failed' }> = new LabeledCounter()

  /** Adds datagrams that another process dropped. */
  drop(counts: Partial<Record<DatagramDrop, number>>): void {
    for (const [reason, count] of Object.entries(counts) as [DatagramDrop, number][])
      if (count > 0) this.datagramsDropped.add({ reason }, count)
  }

  /** Returns the counters since the last call and resets them to 0. Gauges stay. */
  take(): Omit<CounterDelta, 'carriers' | 'silentInPeers'> {
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
    this.silentInPeers += change.silentInPeers
    for (const { labels, count } of change.refused) this.connectionsRefused.add(labels, count)
    for (const { labels, count } of change.memoryRelieved) this.memoryRelieved.add(labels, count)
    for (const { labels, count } of change.requests) this.requests.add(labels, count)
    for (const { labels, count } of change.refusals) this.refusals.add(labels, count)
  }
}
