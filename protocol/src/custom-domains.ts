// Custom domains: a site's own names, which the relay leads to it (docs/protocol.md §9.5).

/** A registration names at most this many custom domains. */
export const CUSTOM_DOMAINS_MAX = 8
/** The longest name of the DNS (RFC 1035 §2.3.4), in characters without the dot at its end. */
export const DOMAIN_NAME_MAX_CHARS = 253

/**
 * The state of a custom domain at a relay: it is not proven, or its records do not lead to the relay yet; it is proven and leads to
 * the relay; or the relay will not lead it to the site.
 */
export type CustomDomainState = 'pending' | 'active' | 'refused'

/** DomainRecord is one DNS record that the domain's owner has to set. */
export interface DomainRecord {
  type: 'TXT' | 'CNAME' | 'A' | 'AAAA'
  /** The whole name, without a dot at its end. */
  name: string
  /** The text, the name without a dot at its end, or the address. */
  value: string
}

/** CustomDomain is what a relay answers about one domain of a registration. */
export interface CustomDomain {
  /** The domain as the registration named it. */
  domain: string
  state: CustomDomainState
  /**
   * Present while the relay has seen the proof of ownership: it passes visitors of the domain to the site, whatever the state says about
   * the path, and an authority that validates the domain (`acme-tls/1`) as well.
   */
  proven?: true | undefined
  /** Why it is not `active`, or will not be for long, for people. */
  reason?: string | undefined
  /** All records that the owner has to set. Absent for a domain that is refused. */
  records?: DomainRecord[] | undefined
}

/** Returns the name of the TXT record that proves who owns a domain. */
export function ownershipRecordName(domain: string): string {
  return `_svc.${domain}`
}

/**
 * Returns the value of that record, of which the name must have exactly one.
 * @param address of the identity, as `0x` and 40 lower-case digits
 */
export function ownershipRecordValue(address: string): string {
  return `svc-address=${address}`
}
