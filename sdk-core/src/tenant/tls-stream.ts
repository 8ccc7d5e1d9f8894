// TLS over one reverse stream: drives the sans-I/O engine and gives its plaintext as a stream, with back-pressure both ways.

import { type ConnectionInfo, type ServerConfig, TlsServer } from '@svc/tls'
import type { ByteStream } from '../bytes/byte-stream.ts'
import { CARRIER_LINGER_MS, CIPHERTEXT_WAITING_MAX_BYTES, PLAINTEXT_WAITING_MAX_BYTES } from '../limits.ts'

export class TlsStream implements ByteStream {
  /** Resolves, with what was agreed on, when the handshake is done; rejects when there will be none. */
  readonly secure: Promise<ConnectionInfo>
  #carrier: ByteStream
  #engine: TlsServer
  #secured = Promise.withResolvers<ConnectionInfo>()
  #plaintext: Uint8Array[] = []
  #plaintextBytes = 0
  /** No more plaintext will come: close_notify did, or the connection is over. */
  #readEnded = false
  #failure: unknown
  #ciphertextBytes = 0
  /** Everything sent so far was taken by the carrier, or never will be. */
  #flushed: Promise<void> = Promise.resolve()
  /** The carrier gives no more. Never rejects. */
  #pumped: Promise<void>
  #change = Promise.withResolvers<void>()

  constructor(carrier: ByteStream, config: ServerConfig) {
    this.#carrier = carrier
    this.secure = this.#secured.promise
    this.secure.catch(() => {}) // who does not wait for it learns the failure from read and write
    this.#engine = new TlsServer(config, {
      send: (bytes) => this.#send(bytes),
      secure: (info) => this.#secured.resolve(info),
      data: (bytes) => this.#deliver(bytes),
      end: () => this.#endRead(),
      close: (error) => this.#closed(error),
    })
    this.#pumped = this.#pump()
  }

  /** RFC 8446 §7.5, without a context. @throws TlsError while there is nothing to export */
  exportKeyingMaterial(label: string, length: number): Uint8Array {
    return this.#engine.exportKeyingMaterial(label, undefined, length)
  }

  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk = this.#plaintext.shift()
      if (chunk) {
        this.#plaintextBytes -= chunk.length
        this.#notify()
        return chunk
      }
      if (this.#failure !== undefined) throw this.#failure
      if (this.#readEnded) return undefined
      await this.#change.promise
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    await this.#engine.write(bytes)
    while (this.#failure === undefined && this.#ciphertextBytes > CIPHERTEXT_WAITING_MAX_BYTES)
      await this.#change.promise
    if (this.#failure !== undefined) throw this.#failure
  }

  /** close_notify, and the carrier's own end behind it. The visitor may go on sending (RFC 8446 §6.1). */
  async end(): Promise<void> {
    await this.#engine.end()
    await this.#endCarrier()
  }

  /** A fatal alert, unless the connection is over already. */
  abort(reason?: unknown): void {
    this.#fail(reason ?? new Error('the connection was aborted'))
    this.#engine.abort()
  }

  /** Ciphertext is read only while there is room for what it makes: plaintext to read and answers to send. */
  async #pump(): Promise<void> {
    try {
      for (;;) {
        while (this.#isFull()) await this.#change.promise
        const bytes = await this.#carrier.read()
        if (bytes === undefined) break
        await this.#engine.receive(bytes)
      }
      this.#engine.receiveEnd()
    } catch (error) {
      this.abort(error)
    }
  }

  #isFull(): boolean {
    if (this.#failure !== undefined) return false
    return (
      this.#plaintextBytes > PLAINTEXT_WAITING_MAX_BYTES ||
      this.#ciphertextBytes > CIPHERTEXT_WAITING_MAX_BYTES
    )
  }

  #deliver(bytes: Uint8Array): void {
    if (this.#failure !== undefined) return
    this.#plaintext.push(bytes)
    this.#plaintextBytes += bytes.length
    this.#notify()
  }

  #endRead(): void {
    this.#readEnded = true
    this.#notify()
  }

  #send(bytes: Uint8Array): void {
    this.#ciphertextBytes += bytes.length
    // Not one after the other: the carrier joins what it is given in one turn.
    this.#flushed = Promise.all([this.#flushed, this.#carrier.write(bytes)])
      .catch((error) => this.#fail(error))
      .then(() => {
        this.#ciphertextBytes -= bytes.length
        this.#notify()
      })
  }

  /** The engine is done. What it sent last, perhaps an alert, leaves first; a visitor that stalls is dropped. */
  #closed(error: unknown): void {
    if (error === undefined) this.#endRead()
    else this.#fail(error)
    this.#secured.reject(error)
    const linger = setTimeout(() => this.#carrier.abort(error), CARRIER_LINGER_MS)
    Promise.all([this.#pumped, this.#endCarrier()]).then(() => clearTimeout(linger))
  }

  /** Never rejects: a carrier that cannot end is aborted. */
  async #endCarrier(): Promise<void> {
    await this.#flushed
    await this.#carrier.end().catch((error) => this.#carrier.abort(error))
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    this.#plaintext = []
    this.#plaintextBytes = 0
    this.#notify()
  }

  #notify(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }
}
