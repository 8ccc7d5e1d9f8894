// A ready session for a visitor, counted.

import { Duplex } from 'node:stream'
import type { Lease } from '../lease/lease.ts'
import type { Tally } from '../metrics/tally.ts'
import type { Arrival } from '../reverse/place.ts'

/**
 * The visitor is gone from here afterwards when another process has the session.
 * @returns undefined when none came in time, or the visitor is gone
 */
export async function claimSession(
  arrival: Arrival,
  gone: AbortSignal,
  tally: Tally,
): Promise<Duplex | 'elsewhere' | undefined> {
  const { ready }: Lease = arrival.lease
  if (ready.isEmpty) tally.claimsWaited += 1
  const claimed = await ready.claim(gone, arrival.until - Date.now())
  if (claimed instanceof Duplex) {
    tally.activations += 1
    return claimed
  }
  if (claimed !== undefined) {
    claimed.handOver(arrival)
    return 'elsewhere'
  }
  if (!gone.aborted) tally.claimsFailed += 1
  return undefined
}
