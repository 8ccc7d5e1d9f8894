// Keeps the key that signs the zone, in dnssec-csk.json of the state directory.

import { join } from 'node:path'
import { newZoneKey, readZoneKey, writeZoneKey, type ZoneKey } from '@svc/dns'
import { SettingsError } from '../../core/config/settings-error.ts'
import { readPrivateIfPresent, writePrivate } from '../../core/storage/state-file.ts'

export const ZONE_KEY_FILE = 'dnssec-csk.json'

/**
 * Reads the zone's key, or creates it if missing.
 * @throws SettingsError when the file exists but is open to others, damaged, or for another zone. It is never
 *   overwritten.
 */
export async function loadZoneKey(directory: string, zone: string): Promise<ZoneKey> {
  const path = join(directory, ZONE_KEY_FILE)
  const text = await readPrivateIfPresent(path)
  if (text !== undefined) return fromFile(path, text, zone)
  const key = newZoneKey(zone)
  await writePrivate(path, writeZoneKey(key))
  return key
}

function fromFile(path: string, text: string, zone: string): ZoneKey {
  try {
    return readZoneKey(text, zone)
  } catch (error) {
    throw new SettingsError(
      path,
      `${(error as Error).message}; restore it from a backup, or remove it for a new key and replace the DS record at the registrar`,
    )
  }
}
