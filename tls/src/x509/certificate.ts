// Reads a whole X.509 certificate (RFC 5280 §4.1, §4.2), and refuses what it does not know to be harmless.

import { hex } from '../der/certificate-fields.ts'
import { type DerElement, DerReader } from '../der/reader.ts'
import * as DER_TAG from '../der/tags.ts'
import { derTime } from '../der/time.ts'
import { violation } from '../errors.ts'
import { nameText } from './distinguished-name.ts'
import * as OID from './oids.ts'
import { type PublicKey, readPublicKey } from './public-key.ts'
import { readSignatureAlgorithm, type SignatureAlgorithm } from './signature-algorithm.ts'

/** A Signed is a structure with its signature: a certificate or a revocation list. */
export interface Signed {
  /** The bytes that the signature covers. */
  signedBytes: Uint8Array
  /** Undefined for an algorithm that is not verified here. */
  signatureAlgorithm: SignatureAlgorithm | undefined
  signature: Uint8Array
  /** The issuer's name, in hexadecimal DER: names are compared byte by byte. */
  issuer: string
}

export interface X509Certificate extends Signed {
  der: Uint8Array
  /** The serial number's content, in hexadecimal. */
  serialNumber: string
  /** The subject's name, DER. */
  subjectName: Uint8Array
  /** The same in hexadecimal. */
  subject: string
  /** Both names as text. */
  subjectText: string
  issuerText: string
  /** The validity, in milliseconds since the epoch. */
  notBefore: number
  notAfter: number
  /** Undefined for a key that is not verified here. */
  publicKey: PublicKey | undefined
  extensions: CertificateExtensions
}

interface CertificateExtensions {
  isCa: boolean
  /** The most intermediate certificates below this one. Undefined without a limit. */
  pathLength: number | undefined
  /** The bits of keyUsage as {@link KEY_USAGE} has them. Undefined when there is none: then all are allowed. */
  keyUsage: number | undefined
  /** False when the extended key usages leave clientAuth out. */
  isForClients: boolean
  /** In hexadecimal. */
  subjectKeyId: string | undefined
  authorityKeyId: string | undefined
  /** The extension because of which the certificate cannot be accepted, in hexadecimal. */
  refused: string | undefined
}

/** Bits of the first byte of keyUsage (§4.2.1.3). */
export const KEY_USAGE = { digitalSignature: 0x80, keyCertSign: 0x04, crlSign: 0x02 } as const

const VERSION_3 = 2
/** `[0]` of a primitive type: keyIdentifier. */
const KEY_IDENTIFIER = 0x80

/**
 * Reads a certificate.
 * @throws TlsError `bad_certificate` for bytes that are none
 */
export function readCertificate(der: Uint8Array): X509Certificate {
  try {
    return read(der)
  } catch (cause) {
    throw violation('bad_certificate', 'it is not an X.509 certificate of version 3', cause)
  }
}

function read(der: Uint8Array): X509Certificate {
  const { content, algorithm, ...signed } = readSigned(der)
  const fields = new DerReader(content)
  const version = fields.enter(DER_TAG.constructed0).take(DER_TAG.integer).content
  if (version.length !== 1 || version[0] !== VERSION_3) throw new RangeError('another version')
  const serialNumber = hex(fields.take(DER_TAG.integer).content)
  requireSame(fields.take(DER_TAG.sequence), algorithm)
  const issuerName = fields.take(DER_TAG.sequence)
  const validity = fields.enter(DER_TAG.sequence)
  const [notBefore, notAfter] = [derTime(validity.take()), derTime(validity.take())]
  validity.end()
  const subjectName = fields.take(DER_TAG.sequence)
  const publicKey = readPublicKey(fields.take(DER_TAG.sequence).der)
  const extensions = fields.isDone ? new Map() : readExtensions(fields.enter(DER_TAG.constructed3))
  fields.end()
  return {
    der,
    ...signed,
    serialNumber,
    issuer: hex(issuerName.der),
    issuerText: nameText(issuerName),
    subjectName: subjectName.der,
    subject: hex(subjectName.der),
    subjectText: nameText(subjectName),
    notBefore,
    notAfter,
    publicKey,
    extensions: interpret(extensions),
  }
}

/** Opens `SIGNED{}`: the content, the AlgorithmIdentifier, and the signature as a BIT STRING. */
export function readSigned(
  der: Uint8Array,
): Omit<Signed, 'issuer'> & { content: Uint8Array; algorithm: DerElement } {
  const outer = new DerReader(der)
  const fields = outer.enter(DER_TAG.sequence)
  outer.end()
  const inner = fields.take(DER_TAG.sequence)
  const algorithm = fields.take(DER_TAG.sequence)
  const [unused, ...signature] = fields.take(DER_TAG.bitString).content
  fields.end()
  if (unused !== 0) throw new RangeError('the signature has no whole bytes')
  return {
    content: inner.content,
    algorithm,
    signedBytes: inner.der,
    signatureAlgorithm: readSignatureAlgorithm(algorithm.der),
    signature: Uint8Array.from(signature),
  }
}

/** Requires that both copies of the algorithm are equal: only one is signed (§4.1.1.2). */
export function requireSame(one: DerElement, other: DerElement): void {
  if (hex(one.der) !== hex(other.der)) throw new RangeError('the two signature algorithms differ')
}

export interface Extension {
  isCritical: boolean
  value: Uint8Array
}

/** Reads Extensions (§4.2), each at most once. */
export function readExtensions(outer: DerReader): Map<string, Extension> {
  const list = outer.enter(DER_TAG.sequence)
  outer.end()
  const extensions = new Map<string, Extension>()
  while (!list.isDone) {
    const fields = list.enter(DER_TAG.sequence)
    const id = hex(fields.take(DER_TAG.objectIdentifier).content)
    const next = fields.take()
    const isMarked = next.tag === DER_TAG.boolean
    const value = isMarked ? fields.take(DER_TAG.octetString) : next
    fields.end()
    if (value.tag !== DER_TAG.octetString || extensions.has(id)) throw new RangeError('a wrong extension')
    extensions.set(id, { isCritical: isMarked && isTrue(next), value: value.content })
  }
  return extensions
}

/** Extensions that may be critical, because they are checked; a subjectAltName has no meaning here. */
const CHECKED: readonly string[] = [
  OID.basicConstraints,
  OID.keyUsage,
  OID.extKeyUsage,
  OID.subjectAltName,
  OID.subjectKeyIdentifier,
  OID.authorityKeyIdentifier,
]

function interpret(extensions: Map<string, Extension>): CertificateExtensions {
  const read = <T>(id: string, parse: (value: DerReader) => T): T | undefined => {
    const extension = extensions.get(id)
    if (extension === undefined) return undefined
    const reader = new DerReader(extension.value)
    const value = parse(reader)
    reader.end()
    return value
  }
  const refused = [...extensions].find(
    // Name constraints are not checked, so that they must not be ignored either.
    ([id, { isCritical }]) => (isCritical && !CHECKED.includes(id)) || id === OID.nameConstraints,
  )
  return {
    ...(read(OID.basicConstraints, readBasicConstraints) ?? { isCa: false, pathLength: undefined }),
    keyUsage: read(OID.keyUsage, (value) => value.take(DER_TAG.bitString).content[1] ?? 0),
    isForClients: read(OID.extKeyUsage, readPurposes)?.includes(OID.clientAuth) ?? true,
    subjectKeyId: read(OID.subjectKeyIdentifier, (value) => hex(value.take(DER_TAG.octetString).content)),
    authorityKeyId: read(OID.authorityKeyIdentifier, readKeyIdentifier),
    refused: refused?.[0],
  }
}

/** Reads BasicConstraints (§4.2.1.9). */
function readBasicConstraints(value: DerReader): { isCa: boolean; pathLength: number | undefined } {
  const fields = value.enter(DER_TAG.sequence)
  if (fields.isDone) return { isCa: false, pathLength: undefined }
  const first = fields.take()
  const isCa = first.tag === DER_TAG.boolean && isTrue(first)
  if (first.tag !== DER_TAG.boolean) throw new RangeError('a path length without a CA')
  if (fields.isDone) return { isCa, pathLength: undefined }
  const [pathLength, ...more] = fields.take(DER_TAG.integer).content
  fields.end()
  // A longer number is more than any path has; a negative one is none.
  if (pathLength === undefined || pathLength > 0x7f) throw new RangeError('a negative path length')
  return { isCa, pathLength: more.length > 0 ? undefined : pathLength }
}

/** Reads ExtKeyUsageSyntax (§4.2.1.12). anyExtendedKeyUsage is not clientAuth, as in OpenSSL. */
function readPurposes(value: DerReader): string[] {
  const list = value.enter(DER_TAG.sequence)
  const purposes: string[] = []
  while (!list.isDone) purposes.push(hex(list.take(DER_TAG.objectIdentifier).content))
  return purposes
}

function readKeyIdentifier(value: DerReader): string | undefined {
  const fields = value.enter(DER_TAG.sequence)
  if (fields.isDone) return undefined
  const { tag, content } = fields.take()
  return tag === KEY_IDENTIFIER ? hex(content) : undefined
}

function isTrue({ content }: DerElement): boolean {
  if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff))
    throw new RangeError('DER has a boolean of another form')
  return content[0] === 0xff
}
