// One reverse stream: the capability and its answer, keepalives while idle, then the marker that starts a connection.

import { BINDING_BYTES, CAPABILITY_DEADLINE_MS, encodeCapability, MARKER, STREAM_ANSWER } from '@svc/protocol'
import { withTimeout } from '@svc/protocol/timers'
import type { ByteStream } from '../bytes/byte-stream.ts'
import { SvcError } from '../errors.ts'
import { explained } from '../explained.ts'

/** An Activation is a visitor's connection that the relay bridges onto a stream. */
export interface Activation {
  /** The bytes that name this TLS connection in `/v1/sign`. Undefined for a TCP visitor. */
  binding: Uint8Array | undefined
  /** The visitor's connection, from its first byte on. */
  stream: ByteStream
}

/** A ReadyStream is a stream that the relay accepted and that waits for a visitor. */
export interface ReadyStream {
  /** Resolves when a visitor came, or with undefined when the stream ended before that. Never rejects. */
  activation(): Promise<Activation | undefined>
  /**
   * Aborts the stream unless it has a visitor. A visitor that the relay is just sending loses its connection, so only a
   * site that closes calls this.
   */
  retire(): void
}

/**
 * Presents the capability on a new stream.
 * @returns undefined when the relay rejected it
 * @throws SvcError `unexpected_answer` or `relay_unreachable`; the stream is then aborted
 */
export async function offerStream(stream: ByteStream, capability: string): Promise<ReadyStream | undefined> {
  const prefix = new PrefixReader(stream)
  const exchange = async (): Promise<number | undefined> => {
    await stream.write(encodeCapability(capability))
    return prefix.byte()
  }
  try {
    const answer = await withTimeout(
      exchange(),
      CAPABILITY_DEADLINE_MS,
      () => new SvcError('relay_unreachable', 'the relay did not answer on a reverse stream in time'),
    )
    if (answer === STREAM_ANSWER.accepted) return awaitVisitor(prefix, stream)
    if (answer !== STREAM_ANSWER.rejected && answer !== undefined)
      throw await explained('unexpected_answer', ['strangeByte', answer])
    stream.abort()
    return undefined
  } catch (error) {
    stream.abort()
    throw error
  }
}

/** Waits for markers on a stream whose carrier has already presented the capability. */
export function readyStream(stream: ByteStream): ReadyStream {
  return awaitVisitor(new PrefixReader(stream), stream)
}

function awaitVisitor(prefix: PrefixReader, stream: ByteStream): ReadyStream {
  let isClaimed = false
  const readMarker = async (): Promise<Activation | undefined> => {
    let marker = await prefix.byte()
    while (marker === MARKER.keepalive) marker = await prefix.byte()
    if (marker !== MARKER.tls && marker !== MARKER.raw) return undefined
    isClaimed = true
    if (marker === MARKER.raw) return { binding: undefined, stream: prefix.rest() }
    const late = (): Error => new Error('the binding did not follow its marker in time')
    const binding = await withTimeout(prefix.bytes(BINDING_BYTES), CAPABILITY_DEADLINE_MS, late)
    return binding && { binding, stream: prefix.rest() }
  }
  return {
    retire: () => {
      if (!isClaimed) stream.abort()
    },
    activation: async () => {
      // A stream that broke, or that stalls inside the binding, counts as ended.
      const activation = await readMarker().catch(() => undefined)
      if (!activation) stream.abort()
      return activation
    },
  }
}

/** Reads exact numbers of bytes from chunks of any size, and hands over the stream with the surplus put back. */
class PrefixReader {
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
    const stream = this.#stream
    let left: Uint8Array | undefined = this.#chunk.length > 0 ? this.#chunk : undefined
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
      write: (bytes) => stream.write(bytes),
      end: () => stream.end(),
      abort: (reason) => stream.abort(reason),
    }
  }
}
