// Counts a lease's visitors by network, and closes one of a network with more than its share when another visitor waits.

import type { Lease } from '../lease/lease.ts'
import type { PendingVisitor, VisitorConnection } from '../reverse/pending-visitor.ts'

/** Share of a lease's visitors that one network may have while visitors of others wait. */
const NETWORK_VISITORS_SHARE = 0.25
/** Visitors of a lease that one network may always have. */
const NETWORK_VISITORS_MIN = 16

/** Bytes that a visitor had transferred at the last check, and when that number last changed. */
interface Activity {
  bytes: number
  idleSince: number
}

/** Visitors of one lease that have a session. */
interface LeaseVisitors {
  count: number
  /** By network, in the order of arrival. Visitors whose trusted proxy names no client have no network and no share. */
  byNetwork: Map<string | undefined, Map<VisitorConnection, Activity>>
}

export class ClientShares {
  /** Leases with visitors in this process. */
  readonly #leases = new Map<Lease, LeaseVisitors>()

  /** Counts a visitor with a session until it disconnects. */
  add({ visitor, lease, network, arrivedAt }: PendingVisitor): void {
    if (visitor.destroyed) return
    const visitors = this.#leases.get(lease) ?? { count: 0, byNetwork: new Map() }
    const ofNetwork = visitors.byNetwork.get(network) ?? new Map<VisitorConnection, Activity>()
    if (ofNetwork.has(visitor)) return
    this.#leases.set(lease, visitors)
    visitors.byNetwork.set(network, ofNetwork.set(visitor, { bytes: 0, idleSince: arrivedAt }))
    visitors.count += 1
    visitor.once('close', () => {
      visitors.count -= 1
      if (visitors.count === 0) this.#leases.delete(lease)
      ofNetwork.delete(visitor)
      if (ofNetwork.size === 0) visitors.byNetwork.delete(network)
    })
  }

  /** Whether the network has reached its share of the lease's visitors. */
  isUsedUp(lease: Lease, network: string | undefined): boolean {
    const visitors = this.#leases.get(lease)
    if (network === undefined || visitors === undefined) return false
    return (visitors.byNetwork.get(network)?.size ?? 0) >= shareOf(visitors)
  }

  /** Records what visitors of networks beyond their share have transferred, so that {@link makeRoom} knows which are idle. */
  recordActivity(lease: Lease): void {
    const visitors = this.#leases.get(lease)
    if (visitors === undefined) return
    for (const [network, ofNetwork] of visitors.byNetwork)
      if (network !== undefined && ofNetwork.size > shareOf(visitors))
        for (const [visitor, activity] of ofNetwork) update(visitor, activity)
  }

  /**
   * Closes the visitor of the largest network that has been idle the longest; among equals, the oldest.
   * @returns false when no network has more than its share
   */
  makeRoom(lease: Lease): boolean {
    const visitors = this.#leases.get(lease)
    if (visitors === undefined) return false
    let largest: Map<VisitorConnection, Activity> | undefined
    for (const [network, ofNetwork] of visitors.byNetwork)
      if (network !== undefined && ofNetwork.size > (largest?.size ?? shareOf(visitors))) largest = ofNetwork
    let longestIdle: VisitorConnection | undefined
    let idleSince = Number.POSITIVE_INFINITY
    for (const [visitor, activity] of largest ?? []) {
      update(visitor, activity)
      if (activity.idleSince >= idleSince) continue
      longestIdle = visitor
      idleSince = activity.idleSince
    }
    longestIdle?.destroy()
    return longestIdle !== undefined
  }
}

/** A lease whose visitors wait is at capacity, so a share of its visitors is a share of its capacity. */
function shareOf({ count }: LeaseVisitors): number {
  return Math.max(NETWORK_VISITORS_MIN, Math.floor(count * NETWORK_VISITORS_SHARE))
}

function update(visitor: VisitorConnection, activity: Activity): void {
  const bytes = visitor.bytesRead + visitor.bytesWritten
  if (bytes === activity.bytes) return
  activity.bytes = bytes
  activity.idleSince = performance.now()
}
