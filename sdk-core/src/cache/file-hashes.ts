// Hashes files, and hashes a file again only when it has changed.

import { hexOf } from '../bytes/hex.ts'
import { isRecord } from '../control/json-checks.ts'
import { type BundledFile, fileOf } from '../handlers/bundled-files.ts'
import { isBlob, isBytes } from '../platform-objects.ts'
import { invalidFiles } from './cache-failures.ts'
import type { ListedFile } from './listed-files.ts'

export interface HashedFile {
  readonly path: string
  readonly blob: Blob
  /** 64 hexadecimal digits. Undefined until {@link FileHashes.complete} has read the file. */
  sha256: string | undefined
}

interface KnownFile extends HashedFile {
  /** The value that was given for the file. */
  readonly content: unknown
}

export class FileHashes {
  /** The files of the last check, by path. */
  #known = new Map<string, KnownFile>()

  /**
   * Returns the files, with the hashes of those that did not change since the last check: the same object or, for a File, one of
   * the same size and time.
   * @throws SvcError `cache_files_invalid` for content that is not of a {@link CacheContent} type
   */
  recall(listed: readonly ListedFile[]): HashedFile[] {
    const files = listed.map(([path, content]): KnownFile => {
      const known = this.#known.get(path)
      if (known && known.content === content) return known
      const blob = blobOf(path, content)
      return { path, content, blob, sha256: known && isAsBefore(known.blob, blob) ? known.sha256 : undefined }
    })
    this.#known = new Map(files.map((file) => [file.path, file]))
    return files
  }

  /**
   * Adds the missing hashes. One file at a time is in memory.
   * @throws SvcError `cache_files_invalid` when a file cannot be read; the reason of `signal`
   */
  async complete(files: readonly HashedFile[], signal: AbortSignal): Promise<void> {
    for (const file of files) {
      signal.throwIfAborted()
      file.sha256 ??= await hash(file)
    }
  }

  /** Makes the next check read all files again, because the relay got content that does not match the hashes. */
  forget(): void {
    this.#known.clear()
  }
}

function blobOf(path: string, content: unknown): Blob {
  if (isBlob(content)) return content
  if (typeof content === 'string') return new Blob([content])
  if (isBytes(content)) return new Blob([content as Uint8Array<ArrayBuffer>])
  try {
    if (isRecord(content)) return fileOf(path, content as unknown as BundledFile)
  } catch (cause) {
    throw invalidFiles(`${JSON.stringify(path)} cannot be read`, cause)
  }
  throw invalidFiles(`the content of ${JSON.stringify(path)} is not a Blob, bytes or text`)
}

function isAsBefore(one: Blob, other: Blob): boolean {
  if (!('lastModified' in one && 'lastModified' in other)) return false
  return one.size === other.size && one.lastModified === other.lastModified
}

async function hash({ path, blob }: HashedFile): Promise<string> {
  const bytes = await blob.arrayBuffer().catch((cause) => {
    throw invalidFiles(`${JSON.stringify(path)} cannot be read, or changed while it was read`, cause)
  })
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return hexOf(digest)
}
