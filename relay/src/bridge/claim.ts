// A ready session for a visitor, counted.

import type { Duplex } from 'node:stream'
import { CLAIM_TIMEOUT_MS } from '@svc/protocol'
import type { Lease } from '../lease/lease.ts'
import type { Tally } from '../metrics/tally.ts'

/** @returns undefined when none came in time, or the visitor is gone */
export async function claimSession(
  { ready }: Lease,
  gone: AbortSignal,
  tally: Tally,
  timeoutMs: number = CLAIM_TIMEOUT_MS,
): Promise<Duplex | undefined> {
  if (ready.size === 0) tally.claimsWaited += 1
  const session = await ready.claim(gone, timeoutMs)
  if (session !== undefined) tally.activations += 1
  else if (!gone.aborted) tally.claimsFailed += 1
  return session
}
