// Upgrades a request to a WebSocket: `FetchInfo.upgrade` makes one of these, and the exchange sends it.

import type { ByteStream } from '../bytes/byte-stream.ts'
import type { Field } from '../semantics/fields.ts'
import { type DeflateParameters, negotiateDeflate } from './deflate-negotiation.ts'
import { WebSocketError } from './errors.ts'
import { type Handshake, handshakeFields, readHandshake } from './handshake.ts'
import { MESSAGE_MAX_BYTES } from './limits.ts'
import { ServerWebSocket } from './socket.ts'
import type { VisitorSocket } from './visitor-socket.ts'

/** UpgradeOptions are the options of `info.upgrade`. */
export interface UpgradeOptions {
  /**
   * The subprotocol that is spoken. The SDK refuses a visitor that did not offer it.
   * @default none
   */
  protocol?: string | undefined
  /**
   * The longest message in bytes. A longer one closes the socket with 1009.
   * @default 16 MiB
   */
  maxMessageBytes?: number | undefined
  /**
   * Whether messages may be compressed (permessage-deflate, RFC 7692) with visitors that offer it: what they send, and texts of
   * 1 KiB to 1 MiB that are sent to them.
   * @default true
   */
  compression?: boolean | undefined
}

/** Upgraded is what `info.upgrade` gives the handler. */
export interface Upgraded {
  /** To be returned by the handler: the socket opens when it is sent. */
  response: Response
  socket: VisitorSocket
}

/** What carries the socket: a connection of HTTP/1.1, or a stream of HTTP/2. */
export interface UpgradeTransport {
  readonly stream: ByteStream
  /** Whether the handshake has a key and its proof. */
  readonly isKeyed: boolean
  /** Accepts the upgrade; behind the response the stream is the socket's. */
  open(fields: Field[]): Promise<void>
}

/** The handler's response is an upgrade, in place of a `PreparedResponse`. */
export class WebSocketUpgrade implements Upgraded {
  readonly response: Response
  readonly #handshake: Handshake
  /** What accepts the visitor's offer to compress messages. */
  readonly #deflate: DeflateParameters | undefined
  readonly #socket: ServerWebSocket
  readonly #transport: UpgradeTransport
  readonly #closing: AbortSignal | undefined

  /** @throws UpgradeError when the request is no handshake that can be accepted */
  constructor(
    request: Request,
    { protocol = '', maxMessageBytes = MESSAGE_MAX_BYTES, compression = true }: UpgradeOptions,
    transport: UpgradeTransport,
    closing: AbortSignal | undefined,
  ) {
    this.#handshake = readHandshake(request, protocol, transport.isKeyed)
    if (compression) this.#deflate = negotiateDeflate(request.headers.get('sec-websocket-extensions') ?? '')
    this.#socket = new ServerWebSocket(protocol, maxMessageBytes)
    this.#transport = transport
    this.#closing = closing
    // No Response can be made with 101. It says so all the same: frameworks log the status, and one that tries to
    // copy the response fails instead of losing the upgrade.
    this.response = new Response()
    Object.defineProperties(this.response, { status: { value: 101 }, ok: { value: false } })
  }

  get socket(): VisitorSocket {
    return this.#socket as VisitorSocket
  }

  /** Settles when the socket is closed. @throws what the connection broke with before the socket was open */
  async send(): Promise<void> {
    const extensions = await this.#agreeOnCompression()
    await this.#transport.open(
      await handshakeFields({ ...this.#handshake, extensions }, this.response.headers),
    )
    await this.#socket.run(this.#transport.stream, this.#closing)
  }

  /** Where its code cannot be loaded, as in a service worker, messages are not compressed. */
  async #agreeOnCompression(): Promise<string> {
    if (this.#deflate === undefined) return ''
    try {
      const { messageCompression } = await import('./deflate.ts')
      const { extensions, windowBits } = this.#deflate
      this.#socket.useCompression(extensions, messageCompression(windowBits))
      return extensions
    } catch {
      return ''
    }
  }

  /** Closes the socket, unless it had its life. */
  cancel(reason: unknown = new WebSocketError('upgrade_declined')): void {
    this.#socket.abandon(reason)
  }
}
