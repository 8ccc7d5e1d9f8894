// A socket as the SDK's byte stream: back-pressure both ways, each direction ending by itself.

import type { Socket } from 'node:net'
import type { ByteStream } from '@svc/sdk-core'

export interface Meter {
  received(bytes: number): void
  sent(bytes: number): void
}

export class SocketStream implements ByteStream {
  readonly #socket: Socket
  readonly #reset: () => void
  readonly #meter: Meter | undefined
  #failure: unknown
  /** Wakes the reader and the writer that wait for a change. */
  #waiting: (() => void)[] = []

  /**
   * @param socket one that half-closes (`allowHalfOpen`)
   * @param reset breaks its connection off
   */
  constructor(socket: Socket, reset: () => void, meter?: Meter) {
    this.#socket = socket
    this.#reset = reset
    this.#meter = meter
    for (const event of ['readable', 'end', 'drain', 'finish']) socket.on(event, () => this.#notify())
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => {
      if (!socket.readableEnded || !socket.writableFinished) this.#fail(new Error('the connection broke'))
    })
    if (socket.destroyed) this.#fail(new Error('the connection broke'))
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
    this.#meter?.sent(bytes.length)
    // bytes that come within one turn of the event loop, such as the records of one read, leave in one write
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork()
      setImmediate(() => this.#socket.uncork())
    }
    this.#socket.write(bytes)
    await this.#while(() => this.#socket.writableNeedDrain)
  }

  async end(): Promise<void> {
    this.#socket.end()
    await this.#while(() => !this.#socket.writableFinished)
  }

  abort(reason?: unknown): void {
    if (this.#socket.closed) return
    this.#fail(reason ?? new Error('the connection was aborted'))
    this.#reset()
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
