// An ACME authority issues certificates for the root host and for sites; this is its interface within the relay.

export interface CertificateOrder {
  /** DNS names of the certificate, each once; may begin with `*.` where {@link AcmeAuthority.hasWildcards} is true. */
  names: readonly string[]
  /** PKCS #10 request, DER, with exactly these names. */
  csr: Uint8Array
  /** Whose certificate it is. A site's order never uses the root host's share of the budget. */
  for: 'root' | 'site'
  /** The site's identity key, for which its failures are counted. */
  identityKey?: string
  /**
   * Whether exactly these names had a certificate before: authorities limit renewals less. The caller must be certain
   * of it.
   * @default false
   */
  renews?: boolean
  /** The certificate that this one replaces, PEM: the authority limits such an order less (RFC 9773 §5). */
  replaces?: string
  signal?: AbortSignal
}

/** An AcmeAuthority obtains certificates within the budgets. */
export interface AcmeAuthority {
  /** Whether orders may contain wildcards: true with `dns-01`. */
  readonly hasWildcards: boolean
  /**
   * Orders a certificate, answers the challenges, and waits for the chain.
   * @returns the chain as PEM, leaf first; it has the key and the names of the request, and is valid now
   * @throws AcmeError
   */
  obtain(order: CertificateOrder): Promise<string>
  /**
   * When to renew a certificate: as the authority says (ARI, RFC 9773), otherwise when a third of its lifetime is left.
   * Never rejects.
   * @param chain PEM
   * @returns milliseconds of the wall clock
   */
  renewalTime(chain: string, signal?: AbortSignal): Promise<number>
  /** Ends what is under way. */
  close(): Promise<void>
}

/** Why there is no certificate. */
export type AcmeFault =
  /** The directory does not answer, or its TLS certificate is not trusted. */
  | 'unreachable'
  /** The authority or the relay's own budget allows no more orders for now. */
  | 'rate_limited'
  /** The authority could not validate a name. */
  | 'validation_failed'
  /** The authority refuses: CAA, a name that it does not issue for, an account that it does not accept. */
  | 'refused'
  /** The DNS provider did not publish the record that proves a name. */
  | 'dns_failed'
  /** The authority's answer cannot be used, such as a chain that does not match the key. */
  | 'unusable'

/** An AcmeError says in one line what the operator can do about it. */
export class AcmeError extends Error {
  override readonly name = 'AcmeError'
  readonly fault: AcmeFault
  /** Milliseconds after which to try again. */
  readonly retryAfterMs: number | undefined

  constructor(fault: AcmeFault, message: string, options: ErrorOptions & { retryAfterMs?: number } = {}) {
    super(message, options)
    this.fault = fault
    this.retryAfterMs = options.retryAfterMs
  }
}
