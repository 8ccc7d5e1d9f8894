// The certificates with which machines prove to each other that they know the secret, from which the CA's key is
// derived.

import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { DER_TAG, encodeDer, encodeDerOid, encodeExtension, encodeName } from '@svc/tls/der'
import { buildCertificate, keyIdOf } from '../../../core/certificates/certificate-builder.ts'
import { LINK_CERTIFICATE_DAYS } from '../limits.ts'
import { deriveSubkey } from '../shared/cluster-key.ts'

const CURVE = 'prime256v1'
/** Order of P-256 (SEC 2). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
/** 64 bits more than the order has, so that the keys are uniformly distributed. */
const SCALAR_SEED_BYTES = 40
const SCALAR_DIGITS = 64
const AUTHORITY_NAME = 'svc cluster'
/** Object identifiers of RFC 5280 §4.2.1, as the content of an element in hexadecimal. */
const OID = {
  keyUsage: '551d0f',
  basicConstraints: '551d13',
  extendedKeyUsage: '551d25',
  serverAuthentication: '2b06010505070301',
  clientAuthentication: '2b06010505070302',
} as const
const TRUE = encodeDer(DER_TAG.boolean, Uint8Array.of(0xff))
/** KeyUsage (§4.2.1.3) keyCertSign, with the number of unused bits before it. */
const KEY_CERT_SIGN: Uint8Array = encodeDer(DER_TAG.bitString, Uint8Array.of(2, 0x04))

export interface LinkCertificate {
  /** PEM. */
  ca: string
  cert: string
  key: string
}

/**
 * Makes the certificate of a machine. All machines with the secret make the same CA.
 * @param clusterKey the result of `deriveClusterKey`
 * @param machine name of the machine, which becomes the common name
 */
export function createLinkCertificate(clusterKey: Uint8Array, machine: string): LinkCertificate {
  const authorityKey = keyOf(clusterKey)
  const name = encodeName(AUTHORITY_NAME)
  const authorityPublicKey = publicKeyOf(authorityKey)
  const issuer = { name, keyId: keyIdOf(authorityPublicKey), key: authorityKey }
  const ca = buildCertificate({
    issuer,
    subject: name,
    publicKey: authorityPublicKey,
    days: LINK_CERTIFICATE_DAYS,
    extensions: [
      encodeExtension(OID.basicConstraints, encodeDer(DER_TAG.sequence, TRUE), true),
      encodeExtension(OID.keyUsage, KEY_CERT_SIGN, true),
    ],
  })
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: CURVE })
  const uses = [OID.serverAuthentication, OID.clientAuthentication].map((use) => encodeDerOid(use))
  const cert = buildCertificate({
    issuer,
    subject: encodeName(machine),
    publicKey: publicKeyOf(privateKey),
    days: LINK_CERTIFICATE_DAYS,
    extensions: [
      encodeExtension(OID.basicConstraints, encodeDer(DER_TAG.sequence), true),
      encodeExtension(OID.extendedKeyUsage, encodeDer(DER_TAG.sequence, ...uses)),
    ],
  })
  return { ca, cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

function keyOf(clusterKey: Uint8Array): KeyObject {
  const seed = deriveSubkey(clusterKey, 'svc cluster CA v1', SCALAR_SEED_BYTES)
  const scalar = (BigInt(`0x${seed.toString('hex')}`) % (ORDER - 1n)) + 1n
  const ecdh = createECDH(CURVE)
  ecdh.setPrivateKey(Buffer.from(scalar.toString(16).padStart(SCALAR_DIGITS, '0'), 'hex'))
  const point = ecdh.getPublicKey()
  return createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: ecdh.getPrivateKey().toString('base64url'),
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  })
}

function publicKeyOf(key: KeyObject): Uint8Array {
  return createPublicKey(key).export({ type: 'spki', format: 'der' })
}
