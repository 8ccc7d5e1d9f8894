// Finds at start the snapshots of an earlier run that are whole, and removes everything else from their directory.

import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Semaphore } from '@svc/node-kit/semaphore'
import { now, toWallTime } from '../../../core/clock.ts'
import { compressibleFiles } from './compressible.ts'
import {
  diskBytes,
  FORM_ENDINGS,
  HEAD_FILE,
  hasContent,
  objectName,
  RECORD_FILE,
  readHead,
  readRecord,
  type SnapshotHead,
  type StoredRecord,
} from './snapshot-files.ts'

/** Stored files whose hashes are checked at once, when the relay starts. */
const CACHE_CHECKED_AT_ONCE = 8

export interface FoundSnapshot extends StoredRecord {
  id: string
  directory: string
  head: SnapshotHead
  /** Bytes of the disk that compressed forms take. They are not checked yet. */
  formBytes: number
}

/**
 * Finds the last snapshot of each identity that has not expired and whose files all have their sizes and hashes. No link
 * is followed.
 * @throws the system's error when a directory cannot be read or cleaned
 */
export async function scanSnapshots(directory: string): Promise<FoundSnapshot[]> {
  const names = await readdir(directory)
  const found = new Map<string, FoundSnapshot>()
  for (const id of names) {
    const one = await inspect(join(directory, id), id)
    const other = one && found.get(one.head.owner.identityKey)
    if (one && (other === undefined || other.sequence < one.sequence))
      found.set(one.head.owner.identityKey, one)
  }
  const kept = new Set([...found.values()].map(({ id }) => id))
  for (const name of names)
    if (!kept.has(name)) await rm(join(directory, name), { recursive: true, force: true })
  return [...found.values()]
}

/** @returns undefined for anything but a whole snapshot */
async function inspect(directory: string, id: string): Promise<FoundSnapshot | undefined> {
  if (!(await lstat(directory)).isDirectory()) return undefined
  try {
    const [head, { record, sequence }] = await Promise.all([readHead(directory), readRecord(directory)])
    if (record.expiresAt <= toWallTime(now()) || !(await isWhole(directory, head))) return undefined
    const formBytes = await removeOthers(directory, head)
    return { id, directory, head, record, sequence, formBytes }
  } catch {
    return undefined
  }
}

async function isWhole(directory: string, { manifest }: SnapshotHead): Promise<boolean> {
  const slots = new Semaphore(CACHE_CHECKED_AT_ONCE)
  const checks = manifest.files.map(({ sha256, size }) =>
    slots.run(() => hasContent(join(directory, objectName(sha256)), size, sha256)),
  )
  return (await Promise.all(checks)).every(Boolean)
}

/** Removes what does not belong to a snapshot. @returns bytes of the disk that compressed forms take */
async function removeOthers(directory: string, { manifest }: SnapshotHead): Promise<number> {
  const own = new Set([HEAD_FILE, RECORD_FILE, ...manifest.files.map(({ sha256 }) => objectName(sha256))])
  const forms = new Set(
    [...compressibleFiles(manifest.files).keys()].flatMap((sha256) =>
      [...FORM_ENDINGS.keys()].map((coding) => objectName(sha256, coding)),
    ),
  )
  let formBytes = 0
  for (const name of await readdir(directory)) {
    if (own.has(name)) continue
    const found = await lstat(join(directory, name))
    if (forms.has(name) && found.isFile()) formBytes += diskBytes(found.size)
    else await rm(join(directory, name), { recursive: true, force: true })
  }
  return formBytes
}
