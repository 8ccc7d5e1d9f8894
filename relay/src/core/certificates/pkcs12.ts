// Encodes one certificate without a key as PKCS #12 (RFC 7292). node-forge supports only RSA certificates, so this file
// builds the bags; node-forge writes the DER and derives the MAC key.

import { createHmac, randomBytes } from 'node:crypto'
import forge from 'node-forge'

/** Object identifiers of RFC 7292 §4, RFC 2985 §5.5 and RFC 2315 §14. */
const OID = {
  data: '1.2.840.113549.1.7.1',
  certBag: '1.2.840.113549.1.12.10.1.3',
  x509Certificate: '1.2.840.113549.1.9.22.1',
  friendlyName: '1.2.840.113549.1.9.20',
  sha1: '1.3.14.3.2.26',
} as const
const VERSION = 3
/** The ID of the MAC key in the key derivation (RFC 7292 appendix B.3). */
const MAC_KEY_ID = 3
const MAC_KEY_BYTES = 20
const SALT_BYTES = 8
const ITERATIONS = 2048

type Asn1 = forge.asn1.Asn1

const { asn1 } = forge
const { Class, Type } = asn1

/**
 * @param der an X.509 certificate
 * @param friendlyName the name that importers show
 */
export function encodePkcs12(der: Uint8Array, friendlyName: string, password: string): Uint8Array {
  const certificate = sequence(oid(OID.x509Certificate), explicit(octets(binary(der))))
  const attribute = sequence(oid(OID.friendlyName), set(bmpString(friendlyName)))
  const bag = sequence(oid(OID.certBag), explicit(certificate), set(attribute))
  const authenticatedSafe = encode(sequence(data(encode(sequence(bag)))))
  const pfx = sequence(integer(VERSION), data(authenticatedSafe), macData(authenticatedSafe, password))
  return Buffer.from(encode(pfx), 'binary')
}

/** Uses SHA-1, which every system supports. The MAC detects damage, not forgery, since the password is public. */
function macData(content: string, password: string): Asn1 {
  const salt = randomBytes(SALT_BYTES).toString('binary')
  const buffer = forge.util.createBuffer(salt)
  const key = forge.pkcs12.generateKey(password, buffer, MAC_KEY_ID, ITERATIONS, MAC_KEY_BYTES)
  const mac = createHmac('sha1', Buffer.from(key.getBytes(), 'binary')).update(Buffer.from(content, 'binary'))
  const algorithm = sequence(oid(OID.sha1), asn1.create(Class.UNIVERSAL, Type.NULL, false, ''))
  return sequence(
    sequence(algorithm, octets(mac.digest().toString('binary'))),
    octets(salt),
    integer(ITERATIONS),
  )
}

/** ContentInfo of type data. */
function data(content: string): Asn1 {
  return sequence(oid(OID.data), explicit(octets(content)))
}

function sequence(...parts: Asn1[]): Asn1 {
  return asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, parts)
}

function set(...parts: Asn1[]): Asn1 {
  return asn1.create(Class.UNIVERSAL, Type.SET, true, parts)
}

function explicit(part: Asn1): Asn1 {
  return asn1.create(Class.CONTEXT_SPECIFIC, 0, true, [part])
}

function oid(identifier: string): Asn1 {
  return asn1.create(Class.UNIVERSAL, Type.OID, false, asn1.oidToDer(identifier).getBytes())
}

function octets(bytes: string): Asn1 {
  return asn1.create(Class.UNIVERSAL, Type.OCTETSTRING, false, bytes)
}

function integer(value: number): Asn1 {
  return asn1.create(Class.UNIVERSAL, Type.INTEGER, false, asn1.integerToDer(value).getBytes())
}

function bmpString(text: string): Asn1 {
  const bytes = Buffer.from(text, 'utf16le').swap16().toString('binary')
  return asn1.create(Class.UNIVERSAL, Type.BMPSTRING, false, bytes)
}

function binary(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('binary')
}

function encode(part: Asn1): string {
  return asn1.toDer(part).getBytes()
}
