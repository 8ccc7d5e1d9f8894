// Makes the compressed forms of stored files in the background, one at a time, and checks those of an earlier run.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createBrotliCompress, createBrotliDecompress, createGunzip, createGzip } from 'node:zlib'
import type { Logger } from '../../../core/log/log.ts'
import type { SnapshotFile, StoredCoding } from '../snapshot.ts'
import { compressibleFiles } from './compressible.ts'
import { diskBytes, FILE_MODE, FORM_ENDINGS } from './snapshot-files.ts'
import type { StoredSnapshot } from './stored-snapshot.ts'

/** A compressed form is kept if it has at most this share of the file's bytes. */
const CACHE_FORM_SHARE_MAX = 0.9

/** Ending of a form's file while it is written. */
const TEMPORARY = '.svc-tmp'
/** A higher quality takes twice the time for 1 % less, the highest one fifty times for 10 %. */
const BROTLI_QUALITY = 7

export class CompressedForms {
  readonly #log: Logger
  readonly #waiting = new Set<StoredSnapshot>()
  #current: { stored: StoredSnapshot; stop: AbortController; work: Promise<void> } | undefined

  constructor(log: Logger) {
    this.#log = log
  }

  add(stored: StoredSnapshot): void {
    this.#waiting.add(stored)
    this.#continue()
  }

  /** Once this resolves, nothing is written to the directory of a snapshot any more. */
  async drop(stored: StoredSnapshot): Promise<void> {
    this.#waiting.delete(stored)
    if (this.#current?.stored !== stored) return
    this.#current.stop.abort()
    await this.#current.work
  }

  async close(): Promise<void> {
    this.#waiting.clear()
    if (this.#current !== undefined) await this.drop(this.#current.stored)
  }

  #continue(): void {
    const [stored] = this.#waiting
    if (this.#current !== undefined || stored === undefined) return
    this.#waiting.delete(stored)
    const stop = new AbortController()
    const work = this.#compress(stored, stop.signal).finally(() => {
      this.#current = undefined
      this.#continue()
    })
    this.#current = { stored, stop, work }
  }

  async #compress(stored: StoredSnapshot, signal: AbortSignal): Promise<void> {
    try {
      for (const file of compressibleFiles(stored.snapshot.files.values()).values())
        for (const coding of FORM_ENDINGS.keys()) {
          if (signal.aborted) return
          await provide(stored, file, coding, signal)
        }
    } catch (error) {
      // The files are served as they are.
      if (!signal.aborted)
        this.#log.warn(
          { snapshot: stored.snapshot.id, err: error },
          'the relay cannot store compressed files',
        )
    }
  }
}

/** Makes a form, unless there is a valid one from an earlier run. */
async function provide(
  stored: StoredSnapshot,
  file: SnapshotFile,
  coding: StoredCoding,
  signal: AbortSignal,
): Promise<void> {
  const path = stored.pathOf(file, coding)
  const left = (await stat(path).catch(() => undefined))?.size
  const isSound = left !== undefined && (await isFormOf(path, file, coding, signal))
  signal.throwIfAborted()
  if (left !== undefined && !isSound) {
    await rm(path)
    stored.reservation.giveBack(diskBytes(left))
  }
  const size = isSound ? left : await make(stored, file, coding, signal)
  if (size !== undefined) stored.addCoding(file, coding, size)
}

/** @returns bytes of the form; undefined when it saves too little, or there is no room */
async function make(
  stored: StoredSnapshot,
  file: SnapshotFile,
  coding: StoredCoding,
  signal: AbortSignal,
): Promise<number | undefined> {
  const most = Math.floor(file.size * CACHE_FORM_SHARE_MAX)
  if (!stored.reservation.add(diskBytes(most))) return undefined
  const path = stored.pathOf(file, coding)
  let used = 0
  try {
    const size = await compress(stored.pathOf(file, undefined), path + TEMPORARY, file, coding, most, signal)
    if (size === undefined) return undefined
    await rename(path + TEMPORARY, path)
    used = diskBytes(size)
    return size
  } finally {
    if (used === 0) await rm(path + TEMPORARY, { force: true })
    stored.reservation.giveBack(diskBytes(most) - used)
  }
}

/** @returns bytes of the file that it has written; undefined when they would be more than `most` */
async function compress(
  from: string,
  to: string,
  file: SnapshotFile,
  coding: StoredCoding,
  most: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const target = await open(to, 'wx', FILE_MODE)
  let size = 0
  const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      size += chunk.length
      if (size > most) throw new Error('it saves too little')
      await target.writeFile(chunk)
    }
  }
  try {
    await pipeline(createReadStream(from), compressorOf(coding, file.size), write, { signal })
    return size
  } catch (error) {
    if (size > most) return undefined
    throw error
  } finally {
    await target.close()
  }
}

/** Returns whether a form decodes to the file. */
async function isFormOf(
  path: string,
  file: SnapshotFile,
  coding: StoredCoding,
  signal: AbortSignal,
): Promise<boolean> {
  const hash = createHash('sha256')
  let size = 0
  const read = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      size += chunk.length
      if (size > file.size) throw new Error('it is too long')
      hash.update(chunk)
    }
  }
  const decoder = coding === 'br' ? createBrotliDecompress() : createGunzip()
  try {
    await pipeline(createReadStream(path), decoder, read, { signal })
    return hash.digest('hex') === file.sha256
  } catch {
    return false
  }
}

function compressorOf(coding: StoredCoding, size: number): Transform {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
  return coding === 'br'
    ? createBrotliCompress({
        params: { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [BROTLI_PARAM_SIZE_HINT]: size },
      })
    : createGzip()
}
