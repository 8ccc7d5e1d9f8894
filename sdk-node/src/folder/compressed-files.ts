// Files of a folder in compressed form, for visitors that accept it: each is compressed once, and kept while there is room.

import { promisify } from 'node:util'
import { type BrotliOptions, brotliCompress, constants, gzip, type InputType } from 'node:zlib'
import type { FileCoding } from '@svc/sdk-core/handlers'

/** The smallest file that is compressed, in bytes: a smaller one fits a packet or two. */
const COMPRESSED_MIN_BYTES = 1024
/** The largest, in bytes: it is compressed in memory, before the first byte is sent. */
export const COMPRESSED_MAX_BYTES: number = 8 * 1024 * 1024
/** The most files that are compressed at once; others are sent as they are, so that visitors cannot fill memory and processors. */
export const COMPRESSING_MAX = 4
/** The most bytes of compressed files that are kept. */
export const KEPT_MAX_BYTES: number = 64 * 1024 * 1024
/** The most files that are kept, with those that compression does not make smaller. */
const KEPT_MAX = 4096

/** Levels that compress a file of the largest size in less than half a second. */
const BROTLI_QUALITY = 5
const GZIP_LEVEL = 6

const brotli: (input: InputType, options: BrotliOptions) => Promise<Uint8Array<ArrayBuffer>> =
  promisify(brotliCompress)
const gzipped: (input: InputType, options: object) => Promise<Uint8Array<ArrayBuffer>> = promisify(gzip)

interface Kept {
  /** Resolves with undefined when the file is best sent as it is. */
  file: Promise<File | undefined>
  bytes: number
}

export class CompressedFiles {
  /** By path, state and coding, the last used ones at the end. */
  readonly #kept = new Map<string, Kept>()
  #bytes = 0
  #compressing = 0

  /**
   * Resolves with the compressed content as a file of the same name and time; undefined when the file is to be sent as it is.
   * @param path tells the file from others
   */
  async of(file: File, path: string, coding: FileCoding): Promise<File | undefined> {
    const { size, lastModified } = file
    if (size < COMPRESSED_MIN_BYTES || size > COMPRESSED_MAX_BYTES) return undefined
    const key = [path, size, lastModified, coding].join('\n')
    const known = this.#kept.get(key)
    if (known) {
      this.#kept.delete(key)
      this.#kept.set(key, known)
      return known.file
    }
    if (this.#compressing >= COMPRESSING_MAX) return undefined
    const kept: Kept = { file: this.#compress(file, coding), bytes: 0 }
    this.#kept.set(key, kept)
    const found = await kept.file
    kept.bytes = found?.size ?? 0
    this.#bytes += kept.bytes
    this.#makeRoom()
    return found
  }

  async #compress(file: File, coding: FileCoding): Promise<File | undefined> {
    this.#compressing += 1
    try {
      const bytes = await file.bytes()
      const compressed =
        coding === 'br'
          ? await brotli(bytes, {
              params: {
                [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
                [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
              },
            })
          : await gzipped(bytes, { level: GZIP_LEVEL })
      if (compressed.length >= bytes.length) return undefined
      return new File([compressed], file.name, { lastModified: file.lastModified })
    } catch {
      // It changed while it was read: the next request finds the new one.
      return undefined
    } finally {
      this.#compressing -= 1
    }
  }

  #makeRoom(): void {
    for (const [key, { bytes }] of this.#kept) {
      if (this.#bytes <= KEPT_MAX_BYTES && this.#kept.size <= KEPT_MAX) return
      this.#kept.delete(key)
      this.#bytes -= bytes
    }
  }
}
