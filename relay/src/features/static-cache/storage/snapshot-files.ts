// The files of a snapshot on disk: their names, their content, and the bytes of the disk that they take.

import { createHash } from 'node:crypto'
import { constants, type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { CACHE_MANIFEST_MAX_BYTES, parseManifest, type StaticCacheManifest } from '@svc/protocol'
import { writePrivate } from '../../../core/storage/state-file.ts'
import type { StoredCoding } from '../snapshot.ts'

/**
 * The cache counts files in whole blocks of the usual size. A budget in bytes of content would let many small files take
 * far more of the disk than the operator allowed.
 */
const CACHE_DISK_BLOCK_BYTES = 4096

/** The site whose files a snapshot has. */
export interface SnapshotOwner {
  identityKey: string
  hostname: string
}

/** The data that the registry keeps with a snapshot. */
export interface SnapshotRecord {
  /** Milliseconds of the wall clock, as {@link publishedAt}. */
  expiresAt: number
  publishedAt: number
  /** Address that the upload came from. */
  clientIp: string
  /** Address that the SDK reported when it registered. */
  reportedIp: string | undefined
}

/** The content of `record.json`. */
export interface StoredRecord {
  record: SnapshotRecord
  /** Later publications have larger ones, whatever the wall clock says. */
  sequence: number
}

/** The content of `manifest.json`, which never changes. */
export interface SnapshotHead {
  owner: SnapshotOwner
  manifest: StaticCacheManifest
}

export const DIRECTORY_MODE = 0o700
export const FILE_MODE = 0o600
export const HEAD_FILE = 'manifest.json'
/** A snapshot without this file is incomplete: it is written last and removed first. */
export const RECORD_FILE = 'record.json'
/** The order in which compressed forms are made, and the endings of their files. */
export const FORM_ENDINGS: ReadonlyMap<StoredCoding, string> = new Map([
  ['br', '.br'],
  ['gzip', '.gz'],
])
/** The relay writes the manifest in its own format, which can take a few bytes more for each file. */
const HEAD_MAX_BYTES: number = 2 * CACHE_MANIFEST_MAX_BYTES
const RECORD_MAX_BYTES: number = CACHE_DISK_BLOCK_BYTES
/** The bytes of the disk that every record takes. */
export const RECORD_DISK_BYTES: number = CACHE_DISK_BLOCK_BYTES
/** No link is followed, and opening a named pipe does not wait for its writer. Windows has neither flag. */
const READ_FLAGS: number = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const READ_PIECE_BYTES = 256 * 1024

/** Name of the file with the content of this hash, or with a compressed form of it. */
export function objectName(sha256: string, coding?: StoredCoding): string {
  return sha256 + (coding === undefined ? '' : FORM_ENDINGS.get(coding))
}

/** The bytes of the disk that a file takes: whole blocks, and at least one, since every file takes an inode. */
export function diskBytes(size: number): number {
  return Math.max(1, Math.ceil(size / CACHE_DISK_BLOCK_BYTES)) * CACHE_DISK_BLOCK_BYTES
}

/** The same for all files of a snapshot as they are uploaded. Equal files are stored once. */
export function snapshotDiskBytes(head: SnapshotHead): number {
  const sizes = new Map(head.manifest.files.map(({ sha256, size }) => [sha256, size]))
  const own = diskBytes(Buffer.byteLength(encodeHead(head))) + RECORD_DISK_BYTES
  return [...sizes.values()].reduce((sum, size) => sum + diskBytes(size), own)
}

export function encodeHead({ owner, manifest }: SnapshotHead): string {
  return JSON.stringify({ ...owner, manifest })
}

/** @throws Error when the file is missing, or is not what the relay writes */
export async function readHead(directory: string): Promise<SnapshotHead> {
  const { identityKey, hostname, manifest } = await readJson(join(directory, HEAD_FILE), HEAD_MAX_BYTES)
  if (typeof identityKey !== 'string' || typeof hostname !== 'string') throw new Error('nobody owns it')
  const limits = { maxExposureBytes: Number.MAX_SAFE_INTEGER, maxObjectBytes: Number.MAX_SAFE_INTEGER }
  return { owner: { identityKey, hostname }, manifest: parseManifest(manifest, limits) }
}

/** @throws StateFileError */
export async function writeRecord(directory: string, { record, sequence }: StoredRecord): Promise<void> {
  await writePrivate(join(directory, RECORD_FILE), JSON.stringify({ ...record, sequence }))
}

/** @throws Error when the file is missing, or is not what the relay writes */
export async function readRecord(directory: string): Promise<StoredRecord> {
  const stored = await readJson(join(directory, RECORD_FILE), RECORD_MAX_BYTES)
  const { expiresAt, publishedAt, clientIp, reportedIp, sequence } = stored
  const areNumbers = [expiresAt, publishedAt, sequence].every((value) => typeof value === 'number')
  if (!areNumbers || typeof clientIp !== 'string') throw new Error('its record is not complete')
  const record = {
    expiresAt: expiresAt as number,
    publishedAt: publishedAt as number,
    clientIp,
    reportedIp: typeof reportedIp === 'string' ? reportedIp : undefined,
  }
  return { record, sequence: sequence as number }
}

async function readJson(path: string, maxBytes: number): Promise<Record<string, unknown>> {
  const file = await openRegular(path)
  try {
    if ((await file.stat()).size > maxBytes) throw new Error(`${path} is too large`)
    return JSON.parse(await file.readFile('utf8'))
  } finally {
    await file.close()
  }
}

/** @returns whether there is a regular file with this content. @throws Error when it cannot be read */
export async function hasContent(path: string, size: number, sha256: string): Promise<boolean> {
  const file = await openRegular(path).catch(undefinedIfAbsent)
  if (file === undefined) return false
  try {
    if ((await file.stat()).size !== size) return false
    const hash = createHash('sha256')
    const options = { autoClose: false, highWaterMark: READ_PIECE_BYTES }
    for await (const chunk of file.createReadStream(options)) hash.update(chunk as Buffer)
    return hash.digest('hex') === sha256
  } finally {
    await file.close()
  }
}

/** @throws Error for everything but a regular file */
async function openRegular(path: string): Promise<FileHandle> {
  const file = await open(path, READ_FLAGS)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new Error(`${path} is not a regular file`)
}

function undefinedIfAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
