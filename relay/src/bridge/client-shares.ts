// Whose visitors a lease has: when another one has to wait for a session, a source that has more than its share gives way.

import type { Socket } from 'node:net'
import type { Lease } from '../lease/lease.ts'
import { SOURCE_SHARE, SOURCE_SHARE_MIN } from '../limits.ts'
import type { PendingVisitor } from '../reverse/pending-visitor.ts'

/** What a visitor had sent and received when it was last looked at, and since when that has been so. */
interface Activity {
  bytes: number
  idleSince: number
}

/** Visitors of a lease that have a session. */
interface Guests {
  count: number
  /** By network, in the order in which they came. Those of trusted proxies have none, and are nobody's share. */
  clientAddresses: Map<string | undefined, Map<Socket, Activity>>
}

export class ClientShares {
  /** Of leases with visitors here. */
  readonly #leases = new Map<Lease, Guests>()

  /** The visitor has a session, until it leaves. */
  enter({ visitor, lease, network, arrivedAt }: PendingVisitor): void {
    if (visitor.destroyed) return
    const guests = this.#leases.get(lease) ?? { count: 0, clientAddresses: new Map() }
    const ofSource = guests.clientAddresses.get(network) ?? new Map<Socket, Activity>()
    if (ofSource.has(visitor)) return
    this.#leases.set(lease, guests)
    guests.clientAddresses.set(network, ofSource.set(visitor, { bytes: 0, idleSince: arrivedAt }))
    guests.count += 1
    visitor.once('close', () => {
      guests.count -= 1
      if (guests.count === 0) this.#leases.delete(lease)
      ofSource.delete(visitor)
      if (ofSource.size === 0) guests.clientAddresses.delete(network)
    })
  }

  /** Whether as many visitors of the lease as are its share come from there. */
  isUsedUp(lease: Lease, network: string | undefined): boolean {
    const guests = this.#leases.get(lease)
    if (network === undefined || guests === undefined) return false
    return (guests.clientAddresses.get(network)?.size ?? 0) >= shareOf(guests)
  }

  /** Notes what visitors of sources beyond their share have transferred, so that {@link makeRoom} knows who is idle. */
  look(lease: Lease): void {
    const guests = this.#leases.get(lease)
    if (guests === undefined) return
    for (const [network, ofSource] of guests.clientAddresses)
      if (network !== undefined && ofSource.size > shareOf(guests))
        for (const [visitor, activity] of ofSource) note(visitor, activity)
  }

  /**
   * Closes the visitor of the largest source that has been idle the longest; of those that are alike, the oldest.
   * @returns false when no source has more than its share
   */
  makeRoom(lease: Lease): boolean {
    const guests = this.#leases.get(lease)
    if (guests === undefined) return false
    let largest: Map<Socket, Activity> | undefined
    for (const [network, ofSource] of guests.clientAddresses)
      if (network !== undefined && ofSource.size > (largest?.size ?? shareOf(guests))) largest = ofSource
    let idlest: Socket | undefined
    let idleSince = Number.POSITIVE_INFINITY
    for (const [visitor, activity] of largest ?? []) {
      note(visitor, activity)
      if (activity.idleSince >= idleSince) continue
      idlest = visitor
      idleSince = activity.idleSince
    }
    idlest?.destroy()
    return idlest !== undefined
  }
}

/** A lease for which visitors have to wait has as many as it can serve: so a quarter of those. */
function shareOf({ count }: Guests): number {
  return Math.max(SOURCE_SHARE_MIN, Math.floor(count * SOURCE_SHARE))
}

function note(visitor: Socket, activity: Activity): void {
  const bytes = visitor.bytesRead + visitor.bytesWritten
  if (bytes === activity.bytes) return
  activity.bytes = bytes
  activity.idleSince = performance.now()
}
