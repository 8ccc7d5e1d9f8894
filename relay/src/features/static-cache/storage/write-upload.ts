// Writes the files of an upload as they arrive, and checks their sizes and hashes.

import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { StaticCacheFile } from '@svc/protocol'
import { RelayError } from '../../../core/errors.ts'
import { syncDirectory, writePrivate } from '../../../core/storage/state-file.ts'
import { encodeHead, FILE_MODE, HEAD_FILE, objectName, type SnapshotHead } from './snapshot-files.ts'

/** Files of one upload that are synchronized to the disk at once. */
const CACHE_SYNCS_MAX = 8

interface UploadSource {
  head: SnapshotHead
  /** The contents of all files, in their order. */
  objects: AsyncIterable<AsyncIterable<Buffer>>
  /** Ends the upload with its reason. */
  signal: AbortSignal
}

/**
 * Once this resolves, the files survive a crash of the machine. After an error, some files may be left.
 * @throws RelayError `invalid_request` when a size or hash differs from the manifest, or a file has no content
 */
export async function writeUpload(directory: string, { head, objects, signal }: UploadSource): Promise<void> {
  const syncs = new Syncs()
  const written = new Set<string>()
  const contents = objects[Symbol.asyncIterator]()
  try {
    for (const file of head.manifest.files) {
      const { done, value: content } = await until(signal, contents.next())
      if (done === true) throw new RelayError('invalid_request', 'the upload has fewer objects than files')
      if (written.has(file.sha256)) await discard(check(file, content, signal))
      else await syncs.add(await writeObject(directory, file, check(file, content, signal)))
      written.add(file.sha256)
    }
    if ((await until(signal, contents.next())).done !== true)
      throw new RelayError('invalid_request', 'the upload has more objects than files')
  } finally {
    // `return` waits while the client sends nothing, and the caller must not.
    contents.return?.().catch(() => {})
    await syncs.settle()
  }
  syncs.requireSuccess()
  await writePrivate(join(directory, HEAD_FILE), encodeHead(head))
  await syncDirectory(directory).catch(() => {})
}

/** @returns the file, which is written but not synchronized */
async function writeObject(
  directory: string,
  { sha256 }: StaticCacheFile,
  content: AsyncIterable<Buffer>,
): Promise<FileHandle> {
  const file = await open(join(directory, objectName(sha256)), 'wx', FILE_MODE)
  try {
    await file.writeFile(content)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Yields a content, and never a byte more than announced. */
async function* check(
  { path, size, sha256 }: StaticCacheFile,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  const chunks = content[Symbol.asyncIterator]()
  let received = 0
  try {
    for (;;) {
      const { done, value: chunk } = await until(signal, chunks.next())
      if (done === true) break
      received += chunk.length
      if (received > size) throw differs(path, `has more than ${size} bytes`)
      hash.update(chunk)
      yield chunk
    }
  } finally {
    chunks.return?.().catch(() => {})
  }
  if (received < size) throw differs(path, `has ${received} bytes, and the manifest says ${size}`)
  if (hash.digest('hex') !== sha256) throw differs(path, 'has another SHA-256 than the manifest says')
}

function differs(path: string, problem: string): RelayError {
  return new RelayError('invalid_request', `the object ${JSON.stringify(path)} ${problem}`)
}

async function discard(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of content);
}

/** Settles as `work` does, or rejects as soon as the signal aborts: a silent client can take long. */
async function until<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // `work` has begun, and rejects when the same signal ends the body.
  work.catch(() => {})
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  work.then(resolve, reject)
  return await promise.finally(() => signal.removeEventListener('abort', onAbort))
}

/** Synchronizes files to the disk during the upload, several at once: for a disk, many are hardly slower than one. */
class Syncs {
  readonly #running = new Set<Promise<void>>()
  #failure: { cause: unknown } | undefined

  /** Waits while there are too many. Closes the file at the end. */
  async add(file: FileHandle): Promise<void> {
    const sync = this.#sync(file).finally(() => this.#running.delete(sync))
    this.#running.add(sync)
    if (this.#running.size >= CACHE_SYNCS_MAX) await Promise.race(this.#running)
    this.requireSuccess()
  }

  async settle(): Promise<void> {
    await Promise.all(this.#running)
  }

  requireSuccess(): void {
    if (this.#failure !== undefined) throw this.#failure.cause
  }

  async #sync(file: FileHandle): Promise<void> {
    const work = file.datasync().finally(() => file.close())
    await work.catch((cause: unknown) => {
      this.#failure ??= { cause }
    })
  }
}
