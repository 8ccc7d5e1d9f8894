// Sends the content of a file, or a part of it, in pieces: each after the visitor has taken the one before.

import { type FileHandle, open } from 'node:fs/promises'
import type { Semaphore } from '@svc/node-kit/semaphore'
import type { ByteRange } from '../../../core/http/range.ts'
import type { VisitorResponse } from '../live-site/live-sites.ts'
import { FILE_BUFFERS_SPARE_MAX, FILE_PIECE_BYTES, FILES_HELD_MAX } from './limits.ts'
import { type Delivery, writePaced } from './pace.ts'

export interface FileBody {
  path: string
  range: ByteRange
  /** Bytes that are read at once, at most {@link FILE_PIECE_BYTES}. */
  pieceBytes: number
  delivery: Delivery
  sendHead(): void
}

export class FileBodies {
  readonly #reads: Semaphore
  /** Buffers of {@link FILE_PIECE_BYTES} that no response uses. */
  readonly #spare: Buffer[] = []
  /** Files that are open for more than one read. */
  #held = 0

  /** @param reads bounds how many files are read at once */
  constructor(reads: Semaphore) {
    this.#reads = reads
  }

  /**
   * Resolves when the kernel has taken the whole body, or the visitor has left. At most `FILES_HELD_MAX` responses keep
   * their file open; others open it for each piece, so that slow visitors hold no more descriptors.
   * @throws Error when the file cannot be read, or ends early. The head is sent only when the first piece is there.
   */
  async send(response: VisitorResponse, body: FileBody): Promise<void> {
    const { path, range, pieceBytes } = body
    const isHeld = range.end + 1 - range.start > pieceBytes && this.#held < FILES_HELD_MAX
    if (isHeld) this.#held += 1
    try {
      const held = isHeld ? await this.#reads.run(() => open(path)) : undefined
      await this.#sendPieces(response, body, held).finally(() => held?.close())
    } finally {
      if (isHeld) this.#held -= 1
    }
  }

  async #sendPieces(
    response: VisitorResponse,
    { path, range: { start, end }, pieceBytes, delivery, sendHead }: FileBody,
    held: FileHandle | undefined,
  ): Promise<void> {
    const buffer = this.#bufferOf(Math.min(pieceBytes, end + 1 - start))
    for (let at = start; at <= end; ) {
      const length = Math.min(buffer.length, end + 1 - at)
      const piece = await this.#reads.run(() => readOnce(held, path, buffer.subarray(0, length), at))
      if (response.destroyed) return
      if (at === start) sendHead()
      at += piece.length
      // Node may still use a piece that it could not write.
      if (!(await writePaced(response, piece, delivery))) return
    }
    this.#keep(buffer)
    response.end()
  }

  #bufferOf(bytes: number): Buffer {
    if (bytes < FILE_PIECE_BYTES) return Buffer.allocUnsafeSlow(bytes)
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(FILE_PIECE_BYTES)
  }

  #keep(buffer: Buffer): void {
    if (buffer.length === FILE_PIECE_BYTES && this.#spare.length < FILE_BUFFERS_SPARE_MAX)
      this.#spare.push(buffer)
  }
}

async function readOnce(
  held: FileHandle | undefined,
  path: string,
  into: Buffer,
  at: number,
): Promise<Buffer> {
  const file = held ?? (await open(path))
  try {
    const { bytesRead } = await file.read(into, 0, into.length, at)
    if (bytesRead === 0) throw new Error(`${path} ends before byte ${at}`)
    return into.subarray(0, bytesRead)
  } finally {
    if (held === undefined) await file.close()
  }
}
