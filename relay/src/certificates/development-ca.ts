// Creates the development CA of a relay on localhost, and certificates that it issues. Machines trust the CA once. It is
// loaded when there is something to create: its library is the slowest part of a start.

import 'reflect-metadata'
import { randomBytes, webcrypto } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { type CertificateAuthority, caName, LEAF_SUBJECT } from './development-names.ts'

type Key = webcrypto.CryptoKey
type KeyPair = webcrypto.CryptoKeyPair

export interface Leaf {
  chain: string
  key: string
}

const { subtle } = webcrypto
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const DAY_MS = 86_400_000
const AUTHORITY_DAYS = 3650
/** The longest validity that browsers accept from a public CA. */
const LEAF_DAYS = 397
const CLOCK_SKEW_MS = 3_600_000
const SERIAL_BYTES = 16
const NAME_CONSTRAINTS_OID = '2.5.29.30'

/** Creates a CA whose certificates are valid only for `host` and the names below it. */
export async function createCa(host: string): Promise<CertificateAuthority> {
  const keys = await newKeys()
  const name = caName(host)
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      name,
      keys,
      ...validity(AUTHORITY_DAYS),
      signingAlgorithm: ALGORITHM,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        // A thief of the key can impersonate only hosts that the constraints permit.
        new Extension(NAME_CONSTRAINTS_OID, true, permittedDnsName(host)),
        await SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto as Crypto),
      ],
    },
    webcrypto as Crypto,
  )
  return { certificate: certificate.toString('pem'), key: await exportKey(keys.privateKey) }
}

/** Issues a leaf with a new ECDSA P-256 key. @param names `host` and its wildcard by default */
export async function createLeaf(
  authority: CertificateAuthority,
  host: string,
  names: string[] = [host, `*.${host}`],
): Promise<Leaf> {
  const keys = await newKeys()
  const chain = await issue(authority, keys.publicKey, names)
  return { chain, key: await exportKey(keys.privateKey) }
}

/**
 * Issues a leaf for an existing key of any kind.
 * @param publicKey SubjectPublicKeyInfo, DER
 * @returns PEM
 */
export async function createLeafFor(
  authority: CertificateAuthority,
  publicKey: Uint8Array<ArrayBuffer>,
  names: string[],
): Promise<string> {
  return await issue(authority, publicKey, names)
}

async function issue(
  authority: CertificateAuthority,
  publicKey: Key | Uint8Array<ArrayBuffer>,
  names: string[],
): Promise<string> {
  const issuer = new X509Certificate(authority.certificate)
  const certificate = await X509CertificateGenerator.create(
    {
      subject: LEAF_SUBJECT,
      issuer: issuer.subject,
      publicKey,
      signingKey: await importKey(authority.key),
      serialNumber: randomBytes(SERIAL_BYTES).toString('hex'),
      ...validity(LEAF_DAYS),
      signingAlgorithm: ALGORITHM,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
        new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }))),
        await SubjectKeyIdentifierExtension.create(publicKey, false, webcrypto as Crypto),
        await AuthorityKeyIdentifierExtension.create(issuer, false, webcrypto as Crypto),
      ],
    },
    webcrypto as Crypto,
  )
  return certificate.toString('pem')
}

async function newKeys(): Promise<KeyPair> {
  return await subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}

async function exportKey(key: Key): Promise<string> {
  return PemConverter.encode(await subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}

async function importKey(pem: string): Promise<Key> {
  return await subtle.importKey('pkcs8', PemConverter.decodeFirst(pem), ALGORITHM, false, ['sign'])
}

function validity(days: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now()
  return { notBefore: new Date(now - CLOCK_SKEW_MS), notAfter: new Date(now + days * DAY_MS) }
}

/** DER of NameConstraints (RFC 5280 §4.2.1.10) with one permitted dNSName, which covers the names below it too. */
function permittedDnsName(host: string): Uint8Array<ArrayBuffer> {
  const tlv = (tag: number, value: Uint8Array): Uint8Array => Uint8Array.of(tag, value.length, ...value)
  const generalName = tlv(0x82, new TextEncoder().encode(host))
  const subtrees = tlv(0xa0, tlv(0x30, generalName))
  return new Uint8Array(tlv(0x30, subtrees))
}
