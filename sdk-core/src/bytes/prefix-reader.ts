// The first bytes of a stream, read before its reader gets the rest.

import type { ByteStream } from './byte-stream.ts'

/** Reads exact numbers of bytes from chunks of any size, and hands over the stream with the surplus put back. */
export class PrefixReader {
  #stream: ByteStream
  #chunk: Uint8Array = new Uint8Array()

  constructor(stream: ByteStream) {
    this.#stream = stream
  }

  async byte(): Promise<number | undefined> {
    return (await this.bytes(1))?.[0]
  }

  /**
   * Reads `count` bytes.
   * @returns undefined when the stream ends earlier
   */
  async bytes(count: number): Promise<Uint8Array | undefined> {
    const bytes = new Uint8Array(count)
    for (let at = 0; at < count; ) {
      if (this.#chunk.length === 0) {
        const chunk = await this.#stream.read()
        if (chunk === undefined) return undefined
        this.#chunk = chunk
      }
      const part = this.#chunk.subarray(0, count - at)
      bytes.set(part, at)
      at += part.length
      this.#chunk = this.#chunk.subarray(part.length)
    }
    return bytes
  }

  rest(): ByteStream {
    return withPrefix(this.#stream, this.#chunk)
  }
}

/** Returns the stream with bytes put back that were read from it. */
export function withPrefix(stream: ByteStream, bytes: Uint8Array): ByteStream {
  let left: Uint8Array | undefined = bytes.length > 0 ? bytes : undefined
  if (!left) return stream
  if (stream.unread) {
    stream.unread(left)
    return stream
  }
  return {
    copies: stream.copies,
    read: async () => {
      const chunk = left
      left = undefined
      return chunk ?? (await stream.read())
    },
    unread: (bytes) => {
      left = bytes
    },
    write: (bytes) => stream.write(bytes),
    end: () => stream.end(),
    abort: (reason) => stream.abort(reason),
  }
}
