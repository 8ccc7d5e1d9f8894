// The reasons why a site waits before visitors can connect.

/**
 * WaitingReason says what keeps visitors out.
 * - `approval`: the relay's operator has not approved the identity yet
 * - `rate_limited`: the relay asked the SDK to wait
 * - `relay_full`: the relay has no room for the site, for its port, or for its sessions
 * - `certificate`: the site waits for its own certificate: the relay has no shared one, or does not sign for client certificates
 */
export type WaitingReason = 'approval' | 'rate_limited' | 'relay_full' | 'certificate'

/** Waiting says why visitors cannot connect yet, and when the site tries again. */
export interface Waiting {
  readonly reason: WaitingReason
  /** The time at which the SDK tries again, in milliseconds since the epoch. Undefined when unknown. */
  readonly until: number | undefined
}

export function isSameWaiting(one: Waiting | undefined, other: Waiting | undefined): boolean {
  return one?.reason === other?.reason && one?.until === other?.until
}
