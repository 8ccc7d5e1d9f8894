// Adds the counts of one worker process to those of the primary process, and removes its gauges when it ends.

import type { Visitors } from '../../core/bridge/visitors.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { RelayCounters } from '../../core/metrics/relay-counters.ts'
import type { SessionPeer } from '../../core/reverse/pending-visitor.ts'
import { readyQueueOf } from '../../core/reverse/ready-queues.ts'
import type { LeaseTraffic } from '../../core/traffic/lease-traffic.ts'
import type { LeaseCounts, ToPrimary } from './messages.ts'

/** The counts of a process that has ended: nobody knows how its connections would have closed. */
const NOTHING: Omit<LeaseCounts, 'lease'> = { ready: 0, visitors: 0, connection: 'none' }

export class WorkerCounts {
  readonly #peer: SessionPeer
  readonly #visitors: Visitors
  readonly #counters: RelayCounters
  readonly #traffic: LeaseTraffic
  /** Leases of which the worker process has connections, sessions or visitors, including ended leases with visitors. */
  readonly #leases = new Map<string, Lease>()
  /** Leases of which the worker process has told open connections, including ended ones. */
  readonly #visited = new Map<string, Lease>()
  readonly #gauges = { carriers: 0, silentInPeers: 0 }

  constructor(
    peer: SessionPeer,
    { visitors, counters, traffic }: { visitors: Visitors; counters: RelayCounters; traffic: LeaseTraffic },
  ) {
    this.#traffic = traffic
    this.#peer = peer
    this.#visitors = visitors
    this.#counters = counters
  }

  /** @param active finds the active lease with an id */
  update(counts: readonly LeaseCounts[], active: (id: string) => Lease | undefined): void {
    for (const { lease: id, ...counted } of counts) {
      const lease = this.#leases.get(id) ?? active(id)
      if (lease === undefined) continue
      const { ready, visitors, connection } = counted
      if (ready > 0 || visitors > 0 || connection === 'open') this.#leases.set(id, lease)
      else this.#leases.delete(id)
      this.#set(lease, counted)
    }
  }

  add({ change, traffic }: ToPrimary & { kind: 'counters' }): void {
    this.#counters.add(change)
    this.#visitors.addTraffic(traffic)
    this.#gauges.carriers += change.carriers
    this.#gauges.silentInPeers += change.silentInPeers
  }

  /** @param active finds the active lease with an id */
  addTraffic({ leases }: ToPrimary & { kind: 'traffic' }, active: (id: string) => Lease | undefined): void {
    for (const [id, change] of leases) {
      const lease = this.#visited.get(id) ?? active(id)
      if (lease === undefined) continue
      if (change.open > 0) this.#visited.set(id, lease)
      else this.#visited.delete(id)
      this.#traffic.merge(this.#peer, lease, change)
    }
  }

  lost(): void {
    this.#traffic.lost(this.#peer)
    this.#visited.clear()
    for (const lease of this.#leases.values()) this.#set(lease, NOTHING)
    this.#leases.clear()
    this.#counters.carriers -= this.#gauges.carriers
    this.#counters.silentInPeers -= this.#gauges.silentInPeers
  }

  #set(lease: Lease, { ready, visitors, connection }: Omit<LeaseCounts, 'lease'>): void {
    readyQueueOf(lease).setConnection(this.#peer, connection)
    readyQueueOf(lease).setPeerCount(this.#peer, ready)
    this.#visitors.report(this.#peer, lease, visitors)
  }
}
