// TLS over one reverse stream: it drives the sans-I/O engine and exposes the plaintext as a stream with back-pressure.

import { type ConnectionInfo, type ServerConfig, TlsServer } from '@svc/tls'
import type { ByteStream } from '../bytes/byte-stream.ts'

/**
 * Reading from a visitor pauses when its connection has this many unread decrypted bytes: the size of a yamux window.
 */
export const PLAINTEXT_WAITING_MAX_BYTES: number = 256 * 1024
/** Writing to a visitor, and reading from it, pauses when this many encrypted bytes wait for the carrier. */
export const CIPHERTEXT_WAITING_MAX_BYTES: number = 256 * 1024
/** The SDK frees the memory of sent encrypted bytes at once when there are this many: less is not worth the call. */
export const FREED_MIN_BYTES: number = 8 * 1024
/** The time that an ended connection has to send its last bytes, and the visitor to end it too. */
export const CARRIER_LINGER_MS = 5_000

export class TlsStream implements ByteStream {
  /** Resolves with the negotiated parameters when the handshake is done. Rejects when it fails. */
  readonly secure: Promise<ConnectionInfo>
  #carrier: ByteStream
  #engine: TlsServer
  #secured = Promise.withResolvers<ConnectionInfo>()
  #plaintext: Uint8Array[] = []
  #plaintextBytes = 0
  /** True when no more plaintext will come: close_notify arrived, or the connection is over. */
  #readEnded = false
  #failure: unknown
  #ciphertextBytes = 0
  /** Resolves when the carrier delivers no more bytes. Never rejects. */
  #pumped: Promise<void>
  #change = Promise.withResolvers<void>()

  constructor(carrier: ByteStream, config: ServerConfig) {
    this.#carrier = carrier
    this.secure = this.#secured.promise
    this.secure.catch(() => {}) // A caller that ignores it learns of the failure from read and write.
    this.#engine = new TlsServer(config, {
      send: (bytes) => this.#send(bytes),
      secure: (info) => this.#secured.resolve(info),
      data: (bytes) => this.#deliver(bytes),
      end: () => this.#endRead(),
      close: (error) => this.#closed(error),
    })
    this.#pumped = this.#pump()
  }

  /**
   * Exports keying material without a context (RFC 8446 §7.5).
   * @param length bytes
   * @throws TlsError before the handshake is done
   */
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

  /** Sends close_notify, then ends the carrier's stream. The visitor may continue to send (RFC 8446 §6.1). */
  async end(): Promise<void> {
    await this.#engine.end()
    await this.#endCarrier()
  }

  /** Sends a fatal alert, unless the connection is already over. */
  abort(reason?: unknown): void {
    this.#fail(reason ?? new Error('the connection was aborted'))
    this.#engine.abort()
  }

  /** Reads ciphertext only while there is room for its plaintext and for the engine's answers. */
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
    const { length } = bytes
    this.#ciphertextBytes += length
    // Writes do not wait for each other: the carrier joins those of one event-loop turn.
    this.#carrier.write(bytes).then(
      () => {
        if (this.#carrier.copies) freeMemory(bytes)
        this.#sent(length)
      },
      (error) => {
        this.#fail(error)
        this.#sent(length)
      },
    )
  }

  #sent(bytes: number): void {
    this.#ciphertextBytes -= bytes
    this.#notify()
  }

  /**
   * Ends the carrier's stream when the engine is done, after its last bytes, perhaps an alert. A visitor that
   * stalls is dropped.
   */
  #closed(error: unknown): void {
    if (error === undefined) this.#endRead()
    else this.#fail(error)
    this.#secured.reject(error)
    const linger = setTimeout(() => this.#carrier.abort(error), CARRIER_LINGER_MS)
    Promise.all([this.#pumped, this.#endCarrier()]).then(() => clearTimeout(linger))
  }

  /** Ends the carrier's stream, or aborts one that cannot end. Never rejects. */
  async #endCarrier(): Promise<void> {
    while (this.#ciphertextBytes > 0) await this.#change.promise
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

/**
 * Frees the memory of bytes at once, if they own their buffer. A page's garbage collector would do it late, and each
 * record would use new memory of the process.
 */
function freeMemory(bytes: Uint8Array): void {
  const { buffer } = bytes as Uint8Array<ArrayBuffer>
  // Browsers have `transfer` since 2023 and 2024.
  if (bytes.length >= FREED_MIN_BYTES && bytes.length === buffer.byteLength) buffer.transfer?.(0)
}
