// The key that signs the zone, in dnssec-csk.json of the state directory. The parent zone's DS record names it, so that a
// relay which made another one would vanish for validating resolvers.

import { createECDH } from 'node:crypto'
import { join } from 'node:path'
import { SettingsError } from '../../../core/config/settings.ts'
import { readPrivateIfPresent, writePrivate } from '../../../core/storage/state-file.ts'
import { NAME_MAX_OCTETS } from '../zone/name.ts'

/** A key of ECDSA P-256 (RFC 6605), in a form that can be sent to a thread. */
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
export const ZONE_KEY_FILE = 'dnssec-csk.json'
const CURVE = 'prime256v1'
const PRIVATE_KEY = /^[0-9a-f]{64}$/

/**
 * Reads the zone's key, or makes it when there is none.
 * @throws SettingsError when the file is there and cannot be used: it is open to others, damaged, or of another zone. It is
 *   never overwritten.
 */
export async function loadZoneKey(directory: string, zone: string): Promise<ZoneKey> {
  const path = join(directory, ZONE_KEY_FILE)
  const text = await readPrivateIfPresent(path)
  if (text !== undefined) return fromFile(path, text, zone)
  const key = newKey(zone)
  const file = {
    zone,
    algorithm: ZONE_KEY_ALGORITHM,
    private_key: key.privateKey,
    public_key: key.publicKey,
    created_at: new Date().toISOString(),
  }
  await writePrivate(path, `${JSON.stringify(file, null, 2)}\n`)
  return key
}

function newKey(zone: string): ZoneKey {
  const curve = createECDH(CURVE)
  curve.generateKeys()
  const privateKey = curve.getPrivateKey('hex').padStart(64, '0')
  return { zone, privateKey, publicKey: publicKeyOf(curve) }
}

function fromFile(path: string, text: string, zone: string): ZoneKey {
  const unusable = (what: string): SettingsError =>
    new SettingsError(
      path,
      `${what}; restore it from a backup, or remove it for a new key and replace the DS record at the registrar`,
    )
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    throw unusable('is damaged: it is not JSON')
  }
  const fields = (typeof file === 'object' && file !== null ? file : {}) as Record<string, unknown>
  if (typeof fields.zone !== 'string') throw unusable('is damaged: zone needs to be a name')
  if (fields.zone !== zone)
    throw unusable(
      `is the key of ${JSON.stringify(fields.zone.slice(0, NAME_MAX_OCTETS))}, and not of ${zone}`,
    )
  if (fields.algorithm !== ZONE_KEY_ALGORITHM)
    throw unusable(`is damaged: algorithm needs to be ${ZONE_KEY_ALGORITHM}`)
  const { private_key: privateKey, public_key: publicKey } = fields
  if (typeof privateKey !== 'string' || !PRIVATE_KEY.test(privateKey))
    throw unusable('is damaged: private_key needs 64 hexadecimal digits')
  if (typeof publicKey !== 'string' || publicKeyOfPrivate(privateKey) !== publicKey)
    throw unusable('is damaged: private_key and public_key do not belong together')
  return { zone, privateKey, publicKey }
}

/** Undefined for a number that is no key of the curve. */
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
