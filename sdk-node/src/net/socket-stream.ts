// A socket as the SDK's byte stream, with back-pressure in both directions and half-close.

import type { Socket } from 'node:net'
import type { ByteStream } from '@svc/sdk-core'

export interface Meter {
  received(bytes: number): void
  /** @param bytes 0 when earlier bytes may have been sent meanwhile */
  sent(bytes: number): void
}

/** The parts of a stream, for another user. */
interface Released {
  socket: Socket
  reset: (socket: Socket) => void
  meter: Meter | undefined
}

/** Writes of at least this many bytes are sent at once: joining them with others would copy them. */
const LARGE_WRITE_BYTES: number = 16 * 1024

export class SocketStream implements ByteStream {
  readonly #socket: Socket
  readonly #reset: (socket: Socket) => void
  readonly #meter: Meter | undefined
  readonly #listeners: Readonly<Record<string, (error?: unknown) => void>>
  #failure: unknown
  /** The callbacks of readers and writers that wait for a change. */
  #waiting: (() => void)[] = []

  /**
   * @param socket a socket with `allowHalfOpen`
   * @param reset resets the connection; it gets the socket, which may be a TLS connection inside a session's
   */
  constructor(socket: Socket, reset: (socket: Socket) => void, meter?: Meter) {
    this.#socket = socket
    this.#reset = reset
    this.#meter = meter
    const notify = (): void => this.#notify()
    this.#listeners = {
      readable: notify,
      end: notify,
      drain: () => {
        meter?.sent(0)
        notify()
      },
      finish: notify,
      error: (error) => this.#fail(error),
      close: () => {
        if (!socket.readableEnded || !socket.writableFinished) this.#fail(new Error('the connection broke'))
      },
    }
    for (const [event, listener] of Object.entries(this.#listeners)) socket.on(event, listener)
    if (socket.destroyed) this.#fail(new Error('the connection broke'))
  }
  /** Puts back bytes that were read too far. */
  unread(bytes: Uint8Array): void {
    this.#socket.unshift(bytes)
  }

  /** Hands the socket to another user, and ends this stream. */
  release(): Released {
    for (const [event, listener] of Object.entries(this.#listeners)) this.#socket.off(event, listener)
    // The other user gets the same error from its own socket.
    this.#socket.on('error', () => {})
    return { socket: this.#socket, reset: this.#reset, meter: this.#meter }
  }

  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk: Buffer | null = this.#failure === undefined ? this.#socket.read() : null
      if (chunk) {
        this.#meter?.received(chunk.length)
        return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length)
      }
      if (this.#socket.readableEnded) return undefined
      if (this.#failure !== undefined) throw this.#failure
      await this.#change()
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    // Bytes of one event-loop turn, such as the records of one read, are sent in one write.
    if (bytes.length < LARGE_WRITE_BYTES && this.#socket.writableCorked === 0) {
      this.#socket.cork()
      setImmediate(() => {
        this.#socket.uncork()
        this.#meter?.sent(0)
      })
    }
    this.#socket.write(bytes)
    this.#meter?.sent(bytes.length)
    if (this.#socket.writableNeedDrain) await this.#while(() => this.#socket.writableNeedDrain)
  }

  async end(): Promise<void> {
    this.#socket.end()
    await this.#while(() => !this.#socket.writableFinished)
  }

  abort(reason?: unknown): void {
    if (this.#socket.closed) return
    this.#fail(reason ?? new Error('the connection was aborted'))
    this.#reset(this.#socket)
  }

  async #while(isWaiting: () => boolean): Promise<void> {
    while (this.#failure === undefined && isWaiting()) await this.#change()
    if (this.#failure !== undefined) throw this.#failure
  }

  #fail(error: unknown): void {
    this.#failure ??= error
    this.#notify()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #notify(): void {
    if (this.#waiting.length === 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
