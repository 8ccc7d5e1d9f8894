// Why a DNS provider did not do what it was asked, and what it says of DNSSEC.

/** The state of DNSSEC as the provider reports it. A text is empty when there is nothing to report. */
export interface DnssecState {
  /** In the provider's own words, such as `active`, `pending` or `off`. */
  state: string
  /** The DS record for the parent zone, in the presentation format without owner, TTL and class. */
  dsRecord: string
  /** What the operator has to do next. */
  message: string
}

/** Why a provider did not do what was requested. */
export type DnsProviderFault =
  /** The credentials are missing, wrong, or lack a permission. */
  | 'unauthorized'
  /** The zone does not exist, or belongs to somebody else. */
  | 'wrong_zone'
  | 'rate_limited'
  /** Somebody else changed the record concurrently. */
  | 'conflict'
  /** There is no room for another record of a site; changes that add none still work. */
  | 'full'
  /** No answer, an invalid answer, or an error at the provider. */
  | 'unavailable'
  /** The name servers of the zone did not answer with the record in time. */
  | 'not_propagated'
  /** The provider has no such feature. */
  | 'unsupported'

/** A DnsProviderError says in one line what the operator can do about it. It never contains a credential. */
export class DnsProviderError extends Error {
  override readonly name = 'DnsProviderError'
  readonly fault: DnsProviderFault
  /** Milliseconds after which to try again, as the provider said; undefined when it did not. */
  readonly retryAfterMs: number | undefined

  constructor(
    fault: DnsProviderFault,
    message: string,
    options: ErrorOptions & { retryAfterMs?: number } = {},
  ) {
    super(message, options)
    this.fault = fault
    this.retryAfterMs = options.retryAfterMs
  }
}
