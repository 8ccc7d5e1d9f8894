// Parses the certificate request of a site (PKCS #10, RFC 2986) and accepts one form only: the public key, its proof, and
// hostnames of the lease that asks.

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { CERTIFICATE_REQUEST_MAX_BYTES } from '@svc/protocol'
import { DER_OID, DER_TAG, DerReader } from '@svc/tls/der'
import { RelayError } from '../../core/errors.ts'

/** A request that has been checked. */
export interface CertificateRequest {
  /** The whole request, DER, for an authority that takes it as it is. */
  der: Uint8Array
  /** SubjectPublicKeyInfo, DER. */
  publicKey: Uint8Array
  /** Hostnames of the lease, at least one, each once. */
  names: readonly string[]
}

interface SignatureAlgorithm {
  key: 'ec' | 'rsa'
  hash: 'sha256' | 'sha384' | 'sha512'
}

/** AlgorithmIdentifiers without their tag and length, in hexadecimal (RFC 5758 §3.2, RFC 8017 §A.2.4). */
const SIGNATURE_ALGORITHMS: Readonly<Record<string, SignatureAlgorithm>> = {
  '06082a8648ce3d040302': { key: 'ec', hash: 'sha256' },
  '06082a8648ce3d040303': { key: 'ec', hash: 'sha384' },
  '06082a8648ce3d040304': { key: 'ec', hash: 'sha512' },
  '06092a864886f70d01010b0500': { key: 'rsa', hash: 'sha256' },
  '06092a864886f70d01010c0500': { key: 'rsa', hash: 'sha384' },
  '06092a864886f70d01010d0500': { key: 'rsa', hash: 'sha512' },
}
/**
 * How a SubjectPublicKeyInfo of P-256 or P-384 begins, in hexadecimal (RFC 5480 §2): named curve, uncompressed point.
 * OpenSSL would also accept other forms.
 */
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: '3059301306072a8648ce3d020106082a8648ce3d03010703420004',
  secp384r1: '3076301006072a8648ce3d020106052b8104002203620004',
}
const RSA_BITS_MIN = 2048
const RSA_BITS_MAX = 4096
/** The only public exponent in use. With a large one each verification would cost as much as a signature. */
const RSA_EXPONENT = 65_537n
const COMMON_NAME = '550403'
const PRINTABLE_STRING = 0x13
const CRITICAL = 'ff'

/**
 * @param hostnames of the lease that asks
 * @throws RelayError `invalid_request` that says what is wrong
 */
export function parseCertificateRequest(der: Uint8Array, hostnames: readonly string[]): CertificateRequest {
  if (der.length > CERTIFICATE_REQUEST_MAX_BYTES)
    throw refused(`it has more than ${CERTIFICATE_REQUEST_MAX_BYTES} bytes`)
  const { info, algorithm, signature } = readRequest(der)
  const { subject, publicKey, names } = info
  requireHostnames(names, hostnames)
  if (subject !== undefined && !names.includes(subject))
    throw refused('its subject must be empty, or the common name one of its names')
  const key = keyOf(publicKey)
  if (algorithm === undefined || algorithm.key !== key.asymmetricKeyType)
    throw refused('it must be signed with ECDSA or RSA and SHA-2, by its own key')
  if (!verify(algorithm.hash, info.der, key, signature)) throw refused('its signature is not of its key')
  return { der, publicKey, names }
}

interface RequestInfo {
  der: Uint8Array
  /** Undefined when the subject is empty. */
  subject: string | undefined
  publicKey: Uint8Array
  names: readonly string[]
}

function readRequest(der: Uint8Array): {
  info: RequestInfo
  algorithm: SignatureAlgorithm | undefined
  signature: Uint8Array
} {
  try {
    const outer = new DerReader(der)
    const request = outer.enter(DER_TAG.sequence)
    outer.end()
    const info = request.take(DER_TAG.sequence)
    const algorithm = SIGNATURE_ALGORITHMS[hex(request.take(DER_TAG.sequence).content)]
    const [unusedBits, ...signature] = request.take(DER_TAG.bitString).content
    request.end()
    if (unusedBits !== 0) throw new RangeError('a signature of whole bytes is needed')
    return { info: readInfo(info.der, info.content), algorithm, signature: Uint8Array.from(signature) }
  } catch (error) {
    if (error instanceof RangeError) throw refused(`it is not the DER of such a request: ${error.message}`)
    throw error
  }
}

/** Reads the CertificationRequestInfo (RFC 2986 §4.1). */
function readInfo(der: Uint8Array, content: Uint8Array): RequestInfo {
  const fields = new DerReader(content)
  if (hex(fields.take(DER_TAG.integer).content) !== '00') throw new RangeError('the version is not 0')
  const subject = readSubject(fields.enter(DER_TAG.sequence))
  const publicKey = fields.take(DER_TAG.sequence).der
  const names = readAttributes(fields.enter(DER_TAG.constructed0))
  fields.end()
  return { der, subject, publicKey, names }
}

/** Reads a Name that is empty or has one common name. */
function readSubject(name: DerReader): string | undefined {
  if (name.isDone) return undefined
  const relative = name.enter(DER_TAG.set)
  name.end()
  const attribute = relative.enter(DER_TAG.sequence)
  relative.end()
  requireOid(attribute, COMMON_NAME, 'the subject has more than a common name')
  const { tag, content } = attribute.take()
  attribute.end()
  if (tag !== DER_TAG.utf8String && tag !== PRINTABLE_STRING)
    throw new RangeError('the common name is not text')
  return ascii(content)
}

/** Reads one extensionRequest (RFC 2985 §5.4.2) that asks for a subjectAltName and nothing else. */
function readAttributes(attributes: DerReader): string[] {
  const attribute = attributes.enter(DER_TAG.sequence)
  attributes.end()
  requireOid(attribute, DER_OID.extensionRequest, 'there are attributes beside the extension request')
  const values = attribute.enter(DER_TAG.set)
  attribute.end()
  const extensions = values.enter(DER_TAG.sequence)
  values.end()
  const extension = extensions.enter(DER_TAG.sequence)
  extensions.end()
  requireOid(extension, DER_OID.subjectAltName, 'there are extensions beside the subjectAltName')
  let value = extension.take()
  if (value.tag === DER_TAG.boolean && hex(value.content) === CRITICAL) value = extension.take()
  extension.end()
  if (value.tag !== DER_TAG.octetString) throw new RangeError('the subjectAltName has no value')
  return readNames(new DerReader(value.content))
}

function readNames(value: DerReader): string[] {
  const list = value.enter(DER_TAG.sequence)
  value.end()
  const names: string[] = []
  while (!list.isDone) names.push(ascii(list.take(DER_TAG.dnsName).content))
  return names
}

function requireOid(reader: DerReader, oid: string, otherwise: string): void {
  if (hex(reader.take(DER_TAG.objectIdentifier).content) !== oid) throw new RangeError(otherwise)
}

function requireHostnames(names: readonly string[], hostnames: readonly string[]): void {
  if (names.length === 0 || new Set(names).size < names.length)
    throw refused('its subjectAltName must have at least one name, and each once')
  if (!names.every((name) => hostnames.includes(name)))
    throw refused('its subjectAltName must have hostnames of this lease and no others')
}

/** @throws RelayError unless the key is of a supported type and in its only accepted encoding */
function keyOf(publicKey: Uint8Array): KeyObject {
  const key = publicKeyOf(publicKey)
  const { asymmetricKeyDetails: { namedCurve, modulusLength: bits = 0, publicExponent } = {} } = key
  const curve = namedCurve === undefined ? undefined : CURVES[namedCurve]
  const isRsa = bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX && publicExponent === RSA_EXPONENT
  const isServed = curve !== undefined || (key.asymmetricKeyType === 'rsa' && isRsa)
  if (!isServed)
    throw refused(`its key must be ECDSA P-256 or P-384, or RSA of ${RSA_BITS_MIN} to ${RSA_BITS_MAX} bits`)
  const isUsual = Buffer.compare(key.export({ type: 'spki', format: 'der' }), publicKey) === 0
  if (!isUsual || !hex(publicKey).startsWith(curve ?? ''))
    throw refused('its key is not in its usual encoding')
  return key
}

function publicKeyOf(publicKey: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' })
  } catch {
    throw refused('its key cannot be read')
  }
}

/** Decodes ASCII; a name with other characters matches no hostname of a lease. */
function ascii(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function refused(why: string): RelayError {
  return new RelayError('invalid_request', `the certificate request is refused: ${why}`)
}
