// The algorithms of signatures on certificates, revocation lists and handshakes.

import { hex } from '../der/certificate-fields.ts'
import { DerReader } from '../der/reader.ts'
import * as DER_TAG from '../der/tags.ts'
import * as OID from './oids.ts'

export type HashName = 'SHA-256' | 'SHA-384' | 'SHA-512'

/** A SignatureAlgorithm without the key's type, except for RSA, which has two paddings. */
export type SignatureAlgorithm =
  | { name: 'RSASSA-PKCS1-v1_5' | 'RSA-PSS' | 'ECDSA'; hash: HashName }
  | { name: 'Ed25519' }

const HASHES: Readonly<Record<string, HashName>> = {
  [OID.sha256]: 'SHA-256',
  [OID.sha384]: 'SHA-384',
  [OID.sha512]: 'SHA-512',
}

const ALGORITHMS: Readonly<Record<string, SignatureAlgorithm>> = {
  [OID.sha256WithRsa]: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  [OID.sha384WithRsa]: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-384' },
  [OID.sha512WithRsa]: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' },
  [OID.ecdsaWithSha256]: { name: 'ECDSA', hash: 'SHA-256' },
  [OID.ecdsaWithSha384]: { name: 'ECDSA', hash: 'SHA-384' },
  [OID.ecdsaWithSha512]: { name: 'ECDSA', hash: 'SHA-512' },
  [OID.ed25519]: { name: 'Ed25519' },
}

/** The bytes of a digest, and of the salt that RSA-PSS has here. */
export const DIGEST_BYTES: Readonly<Record<HashName, number>> = {
  'SHA-256': 32,
  'SHA-384': 48,
  'SHA-512': 64,
}

/**
 * Reads an AlgorithmIdentifier (RFC 5280 §4.1.1.2).
 * @returns undefined for an algorithm that is not verified here, such as one with SHA-1
 * @throws RangeError for bytes that are none
 */
export function readSignatureAlgorithm(identifier: Uint8Array): SignatureAlgorithm | undefined {
  const fields = new DerReader(identifier).enter(DER_TAG.sequence)
  const id = hex(fields.take(DER_TAG.objectIdentifier).content)
  if (id === OID.rsassaPss) return readPss(fields)
  const isNull = !fields.isDone && fields.take().der.join() === '5,0'
  fields.end()
  const algorithm = ALGORITHMS[id]
  // RSA's parameters are NULL (RFC 4055 §5); the others have none (RFC 5758 §3.2, RFC 8410 §3).
  return algorithm?.name.startsWith('RSA') === isNull ? algorithm : undefined
}

/** Reads the parameters of RSA-PSS (RFC 4055 §3.1) with one hash for both uses, and a salt as long as its digest. */
function readPss(fields: DerReader): SignatureAlgorithm | undefined {
  // Without parameters everything has its default, which is SHA-1.
  if (fields.isDone) return undefined
  const parameters = fields.enter(DER_TAG.sequence)
  fields.end()
  const [hashes, masks, salts] = [0, 1, 2].map((n) => takeOptional(parameters, DER_TAG.constructed0 + n))
  if (!hashes || !masks || !salts || !parameters.isDone) return undefined
  const hash = readHash(hashes)
  const mask = masks.enter(DER_TAG.sequence)
  if (hex(mask.take(DER_TAG.objectIdentifier).content) !== OID.mgf1) return undefined
  const salt = salts.take(DER_TAG.integer).content
  if (!hash || readHash(mask) !== hash || salt.length !== 1 || salt[0] !== DIGEST_BYTES[hash])
    return undefined
  return { name: 'RSA-PSS', hash }
}

function takeOptional(fields: DerReader, tag: number): DerReader | undefined {
  if (fields.isDone) return undefined
  return new DerReader(fields.take(tag).content)
}

/** Reads the AlgorithmIdentifier of a hash, with or without NULL (RFC 4055 §2.1). */
function readHash(fields: DerReader): HashName | undefined {
  return HASHES[hex(fields.enter(DER_TAG.sequence).take(DER_TAG.objectIdentifier).content)]
}
