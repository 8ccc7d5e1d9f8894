// A file on disk as a File of fixed length: the file may grow while it is read, as logs do.

import { constants, openAsBlob } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'

const READ_BYTES = 64 * 1024

/** The result of `stat` when the file was opened. */
interface Known {
  ino: number
  dev: number
  size: number
  mtimeMs: number
}

/**
 * Opens a file that is read while it is sent. Data appended meanwhile is not included. A file that changes in any other way
 * ends the transfer, because its entity tag is wrong.
 */
export async function openFile(path: string, name: string): Promise<File> {
  const known = await stat(path)
  return new DiskFile(path, known, { start: 0, end: known.size }, name, await openAsBlob(path))
}

/** Returns the path of a file that {@link openFile} opened. */
export function pathOf(file: File): string | undefined {
  return file instanceof DiskFile ? file.path : undefined
}

interface Range {
  start: number
  end: number
}

class DiskFile extends File {
  readonly path: string
  readonly #known: Known
  readonly #range: Range
  readonly #whole: Blob

  /** @param whole the file for the platform, which does not call the methods below, for example in a form */
  constructor(path: string, known: Known, range: Range, name: string, whole: Blob) {
    super([whole.slice(range.start, range.end)], name, { lastModified: Math.floor(known.mtimeMs) })
    this.#whole = whole
    this.path = path
    this.#known = known
    this.#range = range
  }

  override get size(): number {
    return this.#range.end - this.#range.start
  }

  override slice(from = 0, to = this.size): File {
    const at = (offset: number): number =>
      Math.min(this.size, Math.max(0, offset < 0 ? this.size + offset : offset))
    const start = this.#range.start + at(from)
    const range = { start, end: Math.max(start, this.#range.start + at(to)) }
    return new DiskFile(this.path, this.#known, range, this.name, this.#whole)
  }

  override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { start, end } = this.#range
    let file: FileHandle | undefined
    let at = start
    return new ReadableStream(
      {
        pull: async (controller) => {
          try {
            file ??= await this.#open()
            const bytes = at < end ? await this.#read(file, at, Math.min(READ_BYTES, end - at)) : undefined
            if (bytes) controller.enqueue(bytes)
            at += bytes?.length ?? 0
            if (at < end) return
            await file.close()
            controller.close()
          } catch (error) {
            await file?.close()
            throw error
          }
        },
        cancel: () => file?.close(),
      },
      { highWaterMark: 0 },
    )
  }

  override async arrayBuffer(): Promise<ArrayBuffer> {
    return new Response(this.stream()).arrayBuffer()
  }

  override async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.arrayBuffer())
  }

  override async text(): Promise<string> {
    return new Response(this.stream()).text()
  }

  /** Opens the file again. The name may now lead to another file, or to a pipe, whose opening would block. */
  async #open(): Promise<FileHandle> {
    const file = await open(this.path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const { ino, dev } = await file.stat()
    if (ino === this.#known.ino && dev === this.#known.dev) return file
    await file.close()
    throw changed()
  }

  async #read(file: FileHandle, at: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length)
    const { bytesRead } = await file.read(bytes, 0, length, at)
    // If no change shows after the read, the data is from before any change.
    const { size, mtimeMs } = await file.stat()
    const hasGrown = size > this.#known.size
    if (bytesRead === 0 || (!hasGrown && (mtimeMs !== this.#known.mtimeMs || size !== this.#known.size)))
      throw changed()
    return bytes.subarray(0, bytesRead)
  }
}

/** Returns the error of reading a platform's Blob that changed. */
function changed(): DOMException {
  return new DOMException('the file changed while it was read', 'NotReadableError')
}
