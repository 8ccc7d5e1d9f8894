// Adds the counts of one worker process to those of the primary process, and removes its gauges when it ends.

import type { Visitors } from '../bridge/visitors.ts'
import type { Lease } from '../lease/lease.ts'
import type { RelayCounters } from '../metrics/relay-counters.ts'
import type { SessionPeer } from '../reverse/pending-visitor.ts'
import { readyQueueOf } from '../reverse/ready-queues.ts'
import type { LeaseCounts, ToPrimary } from './messages.ts'

export class WorkerCounts {
  readonly #peer: SessionPeer
  readonly #visitors: Visitors
  readonly #counters: RelayCounters
  /** Leases of which the worker process has sessions or visitors, also ended ones with visitors. */
  readonly #leases = new Map<string, Lease>()
  readonly #gauges = { carriers: 0, silentInPeers: 0 }

  constructor(peer: SessionPeer, { visitors, counters }: { visitors: Visitors; counters: RelayCounters }) {
    this.#peer = peer
    this.#visitors = visitors
    this.#counters = counters
  }

  /** @param active finds the active lease with an id */
  update(counts: readonly LeaseCounts[], active: (id: string) => Lease | undefined): void {
    for (const { lease: id, ready, visitors } of counts) {
      const lease = this.#leases.get(id) ?? active(id)
      if (lease === undefined) continue
      if (ready > 0 || visitors > 0) this.#leases.set(id, lease)
      else this.#leases.delete(id)
      this.#set(lease, ready, visitors)
    }
  }

  add({ change, traffic }: ToPrimary & { kind: 'counters' }): void {
    this.#counters.add(change)
    this.#visitors.addTraffic(traffic)
    this.#gauges.carriers += change.carriers
    this.#gauges.silentInPeers += change.silentInPeers
  }

  lost(): void {
    for (const lease of this.#leases.values()) this.#set(lease, 0, 0)
    this.#leases.clear()
    this.#counters.carriers -= this.#gauges.carriers
    this.#counters.silentInPeers -= this.#gauges.silentInPeers
  }

  #set(lease: Lease, ready: number, visitors: number): void {
    readyQueueOf(lease).setPeerCount(this.#peer, ready)
    this.#visitors.report(this.#peer, lease, visitors)
  }
}
