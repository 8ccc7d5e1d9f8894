// Checks what the static cache needs: a certificate for the hostnames of sites, a folder, and room on its disk.

import type { Stats } from 'node:fs'
import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { findCertificateSource } from '../../core/certificates/certificate-source.ts'
import { type Found, off, ok, warning } from '../../core/check/finding.ts'
import { checkDirectory, nearestExisting } from '../../core/check/state.ts'
import type { Settings } from '../../core/config/settings.ts'

/** The folder of the static cache in the state directory. */
const CACHE_DIRECTORY = 'static-cache'
const MIB = 1024 * 1024

/** @throws SettingsError as a start does, for a certificate that cannot be used */
export async function checkStaticCache(settings: Settings): Promise<Found[]> {
  const { cache, identityPath } = settings
  if (!cache.isEnabled)
    return [off('STATIC_CACHE_ENABLED is false: the relay stores no files, and ends TLS for no site.')]
  const directory = join(identityPath, CACHE_DIRECTORY)
  const [found] = await checkDirectory({ ...settings, identityPath: directory }, {})
  if (found?.status === 'error') return [found]
  return [await checkHostnames(settings), await checkRoom(directory, cache.bytes)]
}

async function checkHostnames(settings: Settings): Promise<Found> {
  const { rootHost, acme, cache } = settings
  const what = `files of sites that ask for it, for ${cache.ttlMaxS} s after they are gone at most`
  const source = await findCertificateSource(settings)
  const isMissing = source.kind === 'managed' && source.certificates?.hasWildcard === false
  const isUnproved = source.kind === 'managed' && acme.challenge === 'tls-alpn-01'
  if (isMissing || isUnproved)
    return warning(
      `The relay stores no files before it has a certificate for *.${rootHost}, which dns-01 alone can prove.`,
    )
  return ok(`The relay stores ${what}, and ends TLS for those.`)
}

async function checkRoom(directory: string, bytes: number): Promise<Found> {
  const existing = await nearestExisting(directory)
  const { bavail, bsize } = await statfs(existing)
  const room = bavail * bsize + (existing === directory ? await bytesIn(directory) : 0)
  const budget = `STATIC_CACHE_BYTES is ${mebibytes(bytes)}`
  return room < bytes
    ? warning(`${budget}, and the disk of ${existing} has room for ${mebibytes(room)}.`)
    : ok(`${budget}, for which the disk of ${existing} has room.`)
}

/** The bytes that the cache already uses. Files that vanish during the count, or cannot be read, do not count. */
async function bytesIn(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  const stats = await Promise.all(
    files.map(({ parentPath, name }) =>
      stat(join(parentPath, name)).catch((): Stats | undefined => undefined),
    ),
  )
  return stats.reduce((sum, found) => sum + (found?.size ?? 0), 0)
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / MIB).toLocaleString('en')} MiB`
}
