// Why a site waits before visitors can come.

/**
 * - `approval`: the relay's operator has not approved the identity yet
 * - `rate_limited`: the relay asked to wait
 * - `relay_full`: the relay has no room for the site, for its port, or for its sessions
 */
export type WaitingReason = 'approval' | 'rate_limited' | 'relay_full'

/** Waiting says why visitors cannot come yet, and when the site asks again. */
export interface Waiting {
  readonly reason: WaitingReason
  /** When the site tries again, in milliseconds since the epoch; undefined where nobody can know. */
  readonly until: number | undefined
}

export function isSameWaiting(one: Waiting | undefined, other: Waiting | undefined): boolean {
  return one?.reason === other?.reason && one?.until === other?.until
}
