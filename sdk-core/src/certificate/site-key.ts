// The private key of a site's own certificate, as the core sees it: the platform stores it, and it never leaves the site.

import type { SignAlgorithm } from '@svc/protocol'

/** A SiteKey is the private key of a site's own certificate: ECDSA P-256, or another one that was brought for a custom domain. */
export interface SiteKey {
  readonly algorithm: SignAlgorithm
  /** The SubjectPublicKeyInfo, DER (RFC 5480 §2). */
  readonly publicKey: Uint8Array
  /** Signs `content` with the algorithm. Resolves with the signature, that of ECDSA in DER (RFC 3279 §2.2.3). */
  sign(content: Uint8Array): Promise<Uint8Array>
}

/** A SiteName identifies a key: one identity, one name, one relay. */
export interface SiteName {
  /** The relay's host, with its port when that is not 443. */
  relay: string
  /** The normalized name of the lease. */
  name: string
  /** The Ethereum address of the identity. */
  address: string
}

/** A StoredSiteKey is a key with the last chain that was stored with it. */
export interface StoredSiteKey<Key extends SiteKey = SiteKey> {
  readonly key: Key
  /** The certificates as DER, leaf first. Undefined when none was stored. It is unchecked. */
  readonly chain: readonly Uint8Array[] | undefined
  /**
   * Stores a chain for this key, in place of the last one.
   * @param expiresAt the end of its leaf's validity, in milliseconds since the epoch
   */
  save(chain: readonly Uint8Array[], expiresAt: number): Promise<void>
}

/** A SiteKeyStore keeps the keys of sites. */
export interface SiteKeyStore<Key extends SiteKey = SiteKey> {
  /**
   * Loads the key of a site, or creates it on first use.
   * @throws SvcError `certificate_unavailable`, whose message says what is wrong
   */
  load(site: SiteName): Promise<StoredSiteKey<Key>>
}
