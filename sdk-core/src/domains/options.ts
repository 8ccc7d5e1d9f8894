// The options of custom domains, and what a site tells about them.

import type { CustomDomainState, DomainRecord } from '@svc/protocol'
import type { ExternalAccount } from '../acme/jws.ts'

/** BroughtDomain is a custom domain whose certificate the caller has got elsewhere, and renews itself. */
export interface BroughtDomain {
  /** The domain, such as `shop.example.org`. */
  domain: string
  certificate: {
    /** PEM, leaf first. The leaf must name the domain. */
    chain: string
    /** PEM of the leaf's private key, without a password: ECDSA P-256, RSA or Ed25519. */
    key: string
  }
}

/** AcmeOptions say how the site gets certificates for its custom domains from an ACME authority, with an account of its own. */
export interface AcmeOptions {
  /** True when the caller agrees to the authority's terms of service. */
  agreeTerms: true
  /**
   * Where the authority may write to.
   * @default none
   */
  email?: string | undefined
  /**
   * The URL of the authority's directory. An authority for pages must allow cross-origin requests, as Let's Encrypt does.
   * @default that of Let's Encrypt
   */
  directory?: string | URL | undefined
  /**
   * The key by which an authority knows its customer.
   * @default none
   */
  externalAccountBinding?: ExternalAccount | undefined
  /**
   * The URL of a DNS resolver that answers over HTTPS (RFC 8484), such as `https://dns.example/dns-query`, which the site asks for the CAA
   * records of its domains. The relay's word would be worth nothing here.
   * @default none: Node asks the system's resolver, and a page cannot tell whether a domain is protected
   */
  dnsOverHttps?: string | URL | undefined
}

/** A SiteDomain is a custom domain of a site as it is at one moment. */
export interface SiteDomain {
  /** In A-labels (IDNA), in lower case. */
  readonly domain: string
  /** What the relay says about the domain's DNS records. */
  readonly dns: DomainDns
  readonly certificate: DomainCertificate
  /** True when the CAA records of the domain allow no other account to get a certificate for it. */
  readonly protected: boolean
  /** Why it is not protected, or not known to be. */
  readonly unprotected: string | undefined
  /** True while visitors can connect to `https://` and the domain. */
  readonly online: boolean
}

/** DomainDns is what the relay says about a domain. */
export interface DomainDns {
  /**
   * - `pending`: the records do not lead to the relay yet, or do not prove the owner
   * - `active`: the relay leads visitors to the site
   * - `refused`: it will not
   */
  readonly state: CustomDomainState
  /** Why the state is not `active`, or will not be for long. */
  readonly reason: string | undefined
  /** The records to set. CAA comes once there is an account that it can name. */
  readonly records: readonly (DomainRecord | CaaRecord)[]
}

/** A CaaRecord is the record that lets only the site's account get certificates (RFC 8657). */
export interface CaaRecord {
  type: 'CAA'
  name: string
  value: string
}

/** DomainCertificate is the state of a domain's certificate. Times are in milliseconds since the epoch. */
export interface DomainCertificate {
  /**
   * - `missing`: there is none yet
   * - `ordering`: the authority works on the first one, or on one that replaces an expired one
   * - `valid`: visitors get one; see `error` for a renewal that failed
   * - `failed`: there is none, and `error` says why
   */
  readonly state: 'missing' | 'ordering' | 'valid' | 'failed'
  /** The end of its validity. */
  readonly expiresAt: number | undefined
  /** When the site renews it. Undefined for one that was brought. */
  readonly renewsAt: number | undefined
  /** Why the last order failed. */
  readonly error: string | undefined
  /** When the site orders again after that. */
  readonly retryAt: number | undefined
}
