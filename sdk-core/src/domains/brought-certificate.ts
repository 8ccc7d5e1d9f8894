// A certificate that the caller of `publish` brings for a custom domain.

import { type CryptoProvider, signAlgorithmOf } from '@svc/tls'
import { certificateFields, DER_TAG, DerReader, encodeDer } from '@svc/tls/der'
import { fromBase64 } from '../bytes/base64.ts'
import { parsePem } from '../certificate/certificate-chain.ts'
import { ownCertificate, readLeaf } from '../certificate/check-certificate.ts'
import type { OwnCertificate } from '../certificate/server-certificate.ts'
import type { SiteKey } from '../certificate/site-key.ts'
import { siteKeyOf } from '../certificate/web-crypto-key.ts'
import { messageOf, SvcError } from '../errors.ts'
import type { BroughtDomain } from './options.ts'

/** Lets the platform sign with a key that it imports itself. */
export type NativeKey = (pkcs8: Uint8Array, key: SiteKey) => SiteKey

/** What a platform does with keys that are brought. */
export interface BroughtPlatform {
  tlsCrypto?: CryptoProvider | undefined
  nativeKey?: NativeKey | undefined
}

const KEY = /-----BEGIN ((?:EC |RSA |ENCRYPTED )?PRIVATE KEY)-----([A-Za-z0-9+/=\s]*)-----END \1-----/
const VERSION = encodeDer(DER_TAG.integer, Uint8Array.of(0))
const ALGORITHMS = {
  ECDSA_SHA256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  RSA_PSS_SHA256: { name: 'RSA-PSS', hash: 'SHA-256', saltLength: 32 },
  Ed25519: { name: 'Ed25519' },
} as const
/** What a new key signs, to see that it is that of the leaf. */
const SAMPLE = new TextEncoder().encode('is this the key of the certificate?')

/**
 * Resolves with the certificate for a domain.
 * @param now in milliseconds since the epoch
 * @throws SvcError `invalid_option` that says what does not fit
 */
export async function broughtCertificate(
  { domain, certificate }: BroughtDomain,
  now: number,
  { tlsCrypto, nativeKey }: BroughtPlatform,
): Promise<OwnCertificate> {
  try {
    const chain = parsePem(certificate.chain)
    const leaf = readLeaf(chain)
    if (!leaf.names.some((name) => covers(name, domain)))
      throw new Error(`it names ${leaf.names.join(', ') || 'nothing'}`)
    if (leaf.notAfter <= now) throw new Error(`it ended at ${new Date(leaf.notAfter).toISOString()}`)
    const pkcs8 = readKey(certificate.key, chain[0]!)
    const key = await importKey(pkcs8, chain[0]!, leaf.publicKey)
    const isNative = nativeKey && key.algorithm === 'ECDSA_SHA256'
    return ownCertificate(chain, isNative ? nativeKey(pkcs8, key) : key, leaf, tlsCrypto)
  } catch (cause) {
    const why = `the certificate for ${domain} cannot be used: ${messageOf(cause)}`
    throw new SvcError('invalid_option', why, { cause })
  }
}

/** Returns whether a name of a certificate is a domain, also as a wildcard for one label (RFC 9525 §6.3). */
function covers(name: string, domain: string): boolean {
  return name.toLowerCase() === domain || name.toLowerCase() === domain.replace(/^[^.]*/, '*')
}

/** Returns the PrivateKeyInfo (RFC 5208 §5), also of a key in the older forms, whose algorithm is that of the leaf. */
function readKey(pem: string, leaf: Uint8Array): Uint8Array<ArrayBuffer> {
  const [, kind, body = ''] = KEY.exec(pem) ?? []
  const der = fromBase64(body.replace(/\s/g, ''))
  if (kind === undefined || !der) throw new Error('the key is not PEM')
  if (kind.startsWith('ENCRYPTED')) throw new Error('the key has a password: remove it first')
  if (kind === 'PRIVATE KEY') return der
  const algorithm = new DerReader(certificateFields(leaf).publicKey.content).take().der
  return encodeDer(DER_TAG.sequence, VERSION, algorithm, encodeDer(DER_TAG.octetString, der))
}

async function importKey(
  pkcs8: Uint8Array<ArrayBuffer>,
  leaf: Uint8Array,
  publicKey: Uint8Array,
): Promise<SiteKey> {
  const name = signAlgorithmOf(leaf)
  const { subtle } = crypto
  const algorithm = ALGORITHMS[name]
  const privateKey = await subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']).catch((cause) => {
    throw new Error(`the key is not one of ${algorithm.name}, as the certificate's`, { cause })
  })
  const verifier = await subtle.importKey('spki', publicKey.slice(), algorithm, false, ['verify'])
  const signature = await subtle.sign(algorithm, privateKey, SAMPLE)
  if (!(await subtle.verify(algorithm, verifier, signature, SAMPLE)))
    throw new Error('the key is that of another certificate')
  if (name === 'ECDSA_SHA256') return siteKeyOf({ privateKey, publicKey })
  const sign = async (content: Uint8Array): Promise<Uint8Array> =>
    new Uint8Array(await subtle.sign(algorithm, privateKey, content.slice()))
  return { algorithm: name, publicKey, sign }
}
