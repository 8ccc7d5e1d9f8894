// The certificate that a site presents: the relay's, for which the relay signs, or one with the site's own key.

import type { SignAlgorithm } from '@svc/protocol'
import type { Signer, Tls12Signer } from '@svc/tls'
import type { ChainCompression } from './chain-compression.ts'
import type { SiteKey } from './site-key.ts'

/** A KeylessCertificate belongs to the relay, which signs each handshake at `/v1/sign`. */
export interface KeylessCertificate {
  /** The certificates as DER, leaf first. */
  chain: readonly Uint8Array[]
  /** The chain compressed, for visitors who support it (RFC 8879). */
  compression: ChainCompression
  /** The signature algorithm of the leaf's key. */
  algorithm: SignAlgorithm
  /** The hostnames in the leaf. */
  names: readonly string[]
  own?: undefined
}

/** An OwnCertificate names one site only, and has that site's key. */
export interface OwnCertificate extends Omit<KeylessCertificate, 'own'> {
  own: OwnKey
}

/** An OwnKey signs for a certificate, and has the certificate's validity. */
export interface OwnKey {
  key: SiteKey
  /** Signs handshakes of TLS 1.3. */
  sign: Signer
  /** Signs handshakes of TLS 1.2. Only certificates of this site have the key. */
  signTls12: Tls12Signer
  /** The validity of the leaf, in milliseconds since the epoch. */
  notBefore: number
  notAfter: number
  /** The issuer of the leaf, and the issuer's key, as `leafDetailsOf` returns them. */
  issuer: string
  issuerKey: string | undefined
}

/** A ServerCertificate is the one that a site presents at the moment. */
export type ServerCertificate = KeylessCertificate | OwnCertificate
