// The key that signs the zone, and its text format. The parent zone's DS record names the key, so a server with
// another key would be unreachable for validating resolvers.

import { createECDH } from 'node:crypto'
import { NAME_MAX_OCTETS } from '../zone/name.ts'

/** An ECDSA P-256 key (RFC 6605), in a form that can be posted to a thread. */
export interface ZoneKey {
  /** The zone's name in lower case, without the trailing dot. */
  zone: string
  /** 64 hexadecimal digits. */
  privateKey: string
  /** The point's two coordinates, 128 hexadecimal digits. */
  publicKey: string
}

/** ECDSAP256SHA256 (RFC 6605 §7). */
export const ZONE_KEY_ALGORITHM = 13
const CURVE = 'prime256v1'
const PRIVATE_KEY = /^[0-9a-f]{64}$/

/** Makes a random key. @param zone its name in lower case, without the trailing dot */
export function newZoneKey(zone: string): ZoneKey {
  const curve = createECDH(CURVE)
  curve.generateKeys()
  const privateKey = curve.getPrivateKey('hex').padStart(64, '0')
  return { zone, privateKey, publicKey: publicKeyOf(curve) }
}

/** @returns JSON, which {@link readZoneKey} reads */
export function writeZoneKey({ zone, privateKey, publicKey }: ZoneKey): string {
  const file = {
    zone,
    algorithm: ZONE_KEY_ALGORITHM,
    private_key: privateKey,
    public_key: publicKey,
    created_at: new Date().toISOString(),
  }
  return `${JSON.stringify(file, null, 2)}\n`
}

/** @throws Error whose message says what is wrong, when the text is not a key of the zone */
export function readZoneKey(text: string, zone: string): ZoneKey {
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    throw new Error('is damaged: it is not JSON')
  }
  const fields = (typeof file === 'object' && file !== null ? file : {}) as Record<string, unknown>
  if (typeof fields.zone !== 'string') throw new Error('is damaged: zone needs to be a name')
  if (fields.zone !== zone)
    throw new Error(
      `is the key of ${JSON.stringify(fields.zone.slice(0, NAME_MAX_OCTETS))}, and not of ${zone}`,
    )
  if (fields.algorithm !== ZONE_KEY_ALGORITHM)
    throw new Error(`is damaged: algorithm needs to be ${ZONE_KEY_ALGORITHM}`)
  const { private_key: privateKey, public_key: publicKey } = fields
  if (typeof privateKey !== 'string' || !PRIVATE_KEY.test(privateKey))
    throw new Error('is damaged: private_key needs 64 hexadecimal digits')
  if (typeof publicKey !== 'string' || publicKeyOfPrivate(privateKey) !== publicKey)
    throw new Error('is damaged: private_key and public_key do not belong together')
  return { zone, privateKey, publicKey }
}

/** Returns undefined for a number that is not a valid private key. */
function publicKeyOfPrivate(privateKey: string): string | undefined {
  const curve = createECDH(CURVE)
  try {
    curve.setPrivateKey(privateKey, 'hex')
  } catch {
    return undefined
  }
  return publicKeyOf(curve)
}

function publicKeyOf(curve: ReturnType<typeof createECDH>): string {
  // The first octet says that the point is not compressed.
  return curve.getPublicKey('hex', 'uncompressed').slice(2)
}
