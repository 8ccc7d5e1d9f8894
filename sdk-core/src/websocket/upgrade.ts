// Upgrades a request to a WebSocket: `FetchInfo.upgrade` makes a WebSocketUpgrade, and the exchange sends it.

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
   * The subprotocol of the socket. The SDK refuses visitors that did not offer it.
   * @default none
   */
  protocol?: string | undefined
  /**
   * The longest message in bytes. A longer one closes the socket with 1009.
   * @default 16 MiB
   */
  maxMessageBytes?: number | undefined
  /**
   * Allows compressed messages (permessage-deflate, RFC 7692) with visitors that offer it: any that they send, and
   * texts of 1 KiB to 1 MiB to them.
   * @default true
   */
  compression?: boolean | undefined
}

/** Upgraded is what `info.upgrade` returns to the handler. */
export interface Upgraded {
  /** The response that the handler must return. The socket opens when it is sent. */
  response: Response
  socket: VisitorSocket
}

/** An UpgradeTransport carries the socket: an HTTP/1.1 connection, or an HTTP/2 stream. */
export interface UpgradeTransport {
  readonly stream: ByteStream
  /** True when the handshake needs a key and its proof. */
  readonly isKeyed: boolean
  /** Accepts the upgrade. After the response, the stream belongs to the socket. */
  open(fields: Field[]): Promise<void>
}

/** A WebSocketUpgrade is the handler's response in place of a `PreparedResponse`. */
export class WebSocketUpgrade implements Upgraded {
  readonly response: Response
  readonly #handshake: Handshake
  /** The parameters that accept the visitor's offer to compress messages. */
  readonly #deflate: DeflateParameters | undefined
  readonly #socket: ServerWebSocket
  readonly #transport: UpgradeTransport
  readonly #closing: AbortSignal | undefined

  /** @throws UpgradeError when the request is not an acceptable handshake */
  constructor(
    request: Request,
    { protocol = '', maxMessageBytes = MESSAGE_MAX_BYTES, compression = true }: UpgradeOptions,
    transport: UpgradeTransport,
    closing: AbortSignal | undefined,
  ) {
    this.#handshake = readHandshake(request, protocol, transport.isKeyed)
    if (compression) this.#deflate = negotiateDeflate(request.headers.get('sec-websocket-extensions') ?? '')
    this.#socket = new ServerWebSocket(request.url.replace('http', 'ws'), protocol, maxMessageBytes)
    this.#transport = transport
    this.#closing = closing
    // A Response cannot be made with 101. Its `status` is overridden to 101: frameworks log it, and one that tries to
    // copy the response fails instead of losing the upgrade.
    this.response = new Response()
    // Separate Headers also keep Set-Cookie, which those of a page's Response drop.
    Object.defineProperties(this.response, {
      status: { value: 101 },
      ok: { value: false },
      // Handlers around this one may replace them.
      headers: { value: new Headers(), configurable: true },
    })
  }

  get socket(): VisitorSocket {
    return this.#socket as VisitorSocket
  }

  /**
   * Opens the socket. Settles when it is closed.
   * @throws the error that broke the connection before the socket was open
   */
  async send(): Promise<void> {
    const extensions = await this.#agreeOnCompression()
    await this.#transport.open(
      await handshakeFields({ ...this.#handshake, extensions }, this.response.headers),
    )
    await this.#socket.run(this.#transport.stream, this.#closing)
  }

  /** Negotiates compression. If its code cannot be loaded, as in a service worker, messages are not compressed. */
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

  /** Closes the socket, unless it was already opened. */
  cancel(reason: unknown = new WebSocketError('upgrade_declined')): void {
    this.#socket.abandon(reason)
  }
}
