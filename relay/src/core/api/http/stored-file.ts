// Reads files in pieces. Each read opens its own descriptor, so that slow clients hold none.

import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Semaphore } from '@svc/node-kit/semaphore'
import type { ByteRange } from '../../http/range.ts'
import { BODY_CHUNK_BYTES } from './body-writer.ts'

/**
 * Files of the pages and the installer that are open at once, out of the descriptors that are not for connections.
 */
export const FILES_OPEN_MAX = 64

export interface StoredFile {
  path: string
  /** Size in bytes. */
  size: number
  modified: Date
  /** Changes when the file is written to or replaced. */
  version: string
}

/** Errors for paths without a file. Every other error is a failure of the machine. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'])
/** Nonblocking, since opening a named pipe without a writer would block a thread. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

const slots = new Semaphore(FILES_OPEN_MAX)

/** @returns undefined when there is no regular file at `path` */
export async function findFile(path: string): Promise<StoredFile | undefined> {
  const found = await stat(path, { bigint: true }).catch(undefinedIfAbsent)
  if (!found?.isFile()) return undefined
  return { path, size: Number(found.size), modified: found.mtime, version: versionOf(found) }
}

/**
 * Yields the bytes of `range`, in pieces of at most {@link BODY_CHUNK_BYTES}.
 * @throws Error when the file has changed or cannot be read
 */
export async function* readPieces(file: StoredFile, { start, end }: ByteRange): AsyncGenerator<Buffer> {
  for (let at = start; at <= end; ) {
    const length = Math.min(BODY_CHUNK_BYTES, end + 1 - at)
    const piece = await slots.run(() => readPiece(file, at, length))
    yield piece
    at += piece.length
  }
}

async function readPiece({ path, version }: StoredFile, at: number, length: number): Promise<Buffer> {
  const handle = await open(path, FLAGS)
  try {
    const isTheSame = versionOf(await handle.stat({ bigint: true })) === version
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, at)
    if (!isTheSame || bytesRead === 0) throw new Error(`${path} changed while it was being sent`)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

function versionOf({ size, mtimeNs, ino }: Record<'size' | 'mtimeNs' | 'ino', bigint>): string {
  return [size, mtimeNs, ino].map((part) => part.toString(36)).join('-')
}

function undefinedIfAbsent(error: NodeJS.ErrnoException): undefined {
  if (!ABSENT.has(error.code ?? '')) throw error
}
