// Byte streams in memory: one whose incoming bytes a test dictates, and a pair of yamux sessions back to back.

import { Session, type Stream } from '@svc/yamux'
import type { ByteStream } from '../../src/bytes/byte-stream.ts'

/** A stream that a test feeds; it keeps what was written. */
export class FedStream implements ByteStream {
  readonly written: Uint8Array[] = []
  ended = false
  aborted = false
  #chunks: Uint8Array[] = []
  #isOver = false
  #change = Promise.withResolvers<void>()

  feed(...chunks: Uint8Array[]): this {
    this.#chunks.push(...chunks)
    this.#notify()
    return this
  }

  /** The peer's FIN. */
  finish(): this {
    this.#isOver = true
    this.#notify()
    return this
  }

  /** Chunks not read yet. */
  get waiting(): number {
    return this.#chunks.length
  }

  async read(): Promise<Uint8Array | undefined> {
    while (this.#chunks.length === 0) {
      if (this.aborted) throw new Error('aborted')
      if (this.#isOver) return undefined
      await this.#change.promise
    }
    return this.#chunks.shift()
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.aborted) throw new Error('aborted')
    this.written.push(bytes.slice())
  }

  async end(): Promise<void> {
    this.ended = true
  }

  abort(): void {
    this.aborted = true
    this.#notify()
  }

  #notify(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }
}

/** A transport for an SDK's session whose other end is a session in the relay's role. */
export function relaySide(onStream: (stream: Stream) => void): {
  transport: { send(bytes: Uint8Array): void | Promise<void>; close(): void }
  /** Delivers what the relay sends; until then it waits. */
  deliverTo(receive: (bytes: Uint8Array) => void): void
  session: Session
  /** From now on nothing gets through: a network that died without a word. */
  cut(): void
  /** From now on the transport says that it is full, though it delivers, or no more. */
  saturate(isFull: boolean): void
  closed: Promise<void>
} {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  let receive: (bytes: Uint8Array) => void = () => {}
  let isCut = false
  let full: PromiseWithResolvers<void> | undefined
  const session = new Session(
    {
      send: (bytes) => queueMicrotask(() => isCut || receive(bytes)),
      close: () => {},
    },
    { role: 'server', onStream, keepAliveIntervalMs: 0 },
  )
  return {
    transport: {
      send: (bytes) => {
        queueMicrotask(() => isCut || session.receive(bytes))
        return full?.promise
      },
      close: () => resolve(),
    },
    deliverTo: (to) => {
      receive = to
    },
    session,
    cut: () => {
      isCut = true
    },
    saturate: (isFull) => {
      full?.resolve()
      full = isFull ? Promise.withResolvers() : undefined
    },
    closed,
  }
}

/** The next `count` bytes of a stream, exactly. */
export async function readBytes(stream: Pick<Stream, 'read'>, count: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let total = 0
  while (total < count) {
    const chunk = await stream.read()
    if (chunk === undefined) break
    parts.push(chunk)
    total += chunk.length
  }
  return Uint8Array.from(Buffer.concat(parts))
}
