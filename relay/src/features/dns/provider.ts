// A DNS provider manages the records of the relay's host and of the names below it; this is its interface within the
// relay.

import type { DnssecState } from '@svc/dns/providers'

export { DnsProviderError, type DnsProviderFault, type DnssecState } from '@svc/dns/providers'

/** The addresses of one name; an empty list removes the records of that family. */
export interface NameAddresses {
  ipv4: readonly string[]
  ipv6: readonly string[]
}

/**
 * A DnsProvider changes records of one zone. Names are absolute, in lower case, without a trailing dot, and may begin with
 * `*.`. Callers make one change at a time. Records that the relay did not make stay as they are.
 */
export interface DnsProvider {
  /** As in `ACME_DNS_PROVIDER`, without the part after a colon. */
  readonly name: string
  /**
   * Whether the public DNS leads to this provider for the relay's host, which `ACME_CHALLENGE=auto` needs to know.
   * Never rejects.
   * @param tell called with the reason when it does not, in one line for the operator
   */
  canAnswer(signal?: AbortSignal, tell?: (reason: string) => void): Promise<boolean>
  /**
   * Adds one value to the TXT records of a name; does nothing when it is there. Resolves when all name servers of the zone
   * answer with it.
   * @param wait `taken`: resolves as soon as the provider has the record, when no caller needs the name servers to have
   *   it
   * @throws DnsProviderError
   */
  addTxt(name: string, value: string, signal?: AbortSignal, wait?: 'taken'): Promise<void>
  /**
   * Resolves when all name servers of the zone answer with a value that the provider has accepted. A provider without
   * this method has name servers that answer with it at once.
   * @throws DnsProviderError
   */
  waitForTxt?(name: string, value: string, signal?: AbortSignal): Promise<void>
  /** Removes one value; does nothing when it is not there. @throws DnsProviderError */
  removeTxt(name: string, value: string, signal?: AbortSignal): Promise<void>
  /** Makes A and AAAA records of a name equal to these. @throws DnsProviderError */
  setAddresses(name: string, addresses: NameAddresses, signal?: AbortSignal): Promise<void>
  /** Enables DNSSEC where the provider can, and returns its state. @throws DnsProviderError */
  dnssec(signal?: AbortSignal): Promise<DnssecState>
  /** Ends what is under way. */
  close(): Promise<void>
}
