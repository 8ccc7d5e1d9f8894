// One visitor's WebSocket from `open` to `close`: messages, pings, and the closing handshake (RFC 6455 §5 to §7).

import type { ByteStream } from '../bytes/byte-stream.ts'
import { isArrayBuffer, isBlob } from '../platform-objects.ts'
import { Deadline } from '../timers/deadline.ts'
import { ABNORMAL, type CloseStatus, GOING_AWAY, isCloseCode, NO_STATUS } from './close-frame.ts'
import type { MessageCompression } from './deflate.ts'
import { WebSocketError } from './errors.ts'
import { FrameWriter } from './frame-writer.ts'
import { BUFFERED_MAX_BYTES, CLOSE_MS, PONG_MS, REASON_MAX_BYTES, SILENCE_MS } from './limits.ts'
import { MessageReader } from './message-reader.ts'
import { HandlerAttributes, SocketErrorEvent, type VisitorSocket } from './visitor-socket.ts'

const CONNECTING = 0
const OPEN = 1
const CLOSING = 2
const CLOSED = 3
const NOTHING = new Uint8Array(0)

export class ServerWebSocket extends EventTarget {
  readonly CONNECTING: 0 = CONNECTING
  readonly OPEN: 1 = OPEN
  readonly CLOSING: 2 = CLOSING
  readonly CLOSED: 3 = CLOSED
  readonly url: string
  readonly protocol: string
  #extensions = ''
  #compression: MessageCompression | undefined
  binaryType: BinaryType = 'blob'
  #readyState: number = CONNECTING
  #stream: ByteStream | undefined
  readonly #reader: MessageReader
  readonly #writer: FrameWriter = new FrameWriter((error) => this.#drop(error))
  readonly #handlers: HandlerAttributes = new HandlerAttributes(this)
  readonly #deadline: Deadline = new Deadline(() => this.#late())
  /** The event that must come before the deadline. */
  #awaited: 'traffic' | 'pong' | 'close' = 'traffic'
  /** The status in the visitor's Close frame. */
  #status: CloseStatus | undefined
  #failure: unknown
  /** Resolves when the handler resumes. Undefined unless it has paused. */
  #paused: PromiseWithResolvers<void> | undefined

  constructor(url: string, protocol: string, maxMessageBytes: number) {
    super()
    this.url = url
    this.protocol = protocol
    this.#reader = new MessageReader(maxMessageBytes, {
      text: (text) => this.#message(text),
      binary: (bytes) => this.#message(this.binaryType === 'blob' ? new Blob([bytes]) : bytes.buffer),
      ping: (payload) => this.#writer.pong(payload),
      close: (status) => this.#closeReceived(status),
      isPaused: () => this.#paused !== undefined,
    })
  }

  get extensions(): string {
    return this.#extensions
  }

  get readyState(): number {
    return this.#readyState
  }

  get bufferedAmount(): number {
    return this.#writer.bufferedAmount
  }

  get onopen(): VisitorSocket['onopen'] {
    return this.#handlers.get('open')
  }

  set onopen(handler: VisitorSocket['onopen']) {
    this.#handlers.set('open', handler)
  }

  get onmessage(): VisitorSocket['onmessage'] {
    return this.#handlers.get('message')
  }

  set onmessage(handler: VisitorSocket['onmessage']) {
    this.#handlers.set('message', handler)
  }

  get onerror(): VisitorSocket['onerror'] {
    return this.#handlers.get('error')
  }

  set onerror(handler: VisitorSocket['onerror']) {
    this.#handlers.set('error', handler)
  }

  get onclose(): VisitorSocket['onclose'] {
    return this.#handlers.get('close')
  }

  set onclose(handler: VisitorSocket['onclose']) {
    this.#handlers.set('close', handler)
  }

  send(data: string | ArrayBuffer | ArrayBufferView | Blob): void {
    if (this.#readyState === CONNECTING)
      throw new DOMException('The socket is not open yet', 'InvalidStateError')
    if (this.#readyState !== OPEN) return
    if (this.bufferedAmount > BUFFERED_MAX_BYTES) this.#drop(new WebSocketError('buffer_full'))
    else if (isBlob(data)) this.#writer.binary(data)
    else if (ArrayBuffer.isView(data)) this.#writer.binary(bytesOf(data).slice())
    else if (isArrayBuffer(data)) this.#writer.binary(new Uint8Array(data.slice()))
    else this.#writer.text(String(data).toWellFormed())
  }

  close(code: number = NO_STATUS, reason: string = ''): void {
    if (code !== NO_STATUS && !isCloseCode(code))
      throw new DOMException(`A Close frame cannot carry ${code}`, 'InvalidAccessError')
    const text = String(reason).toWellFormed()
    if (new TextEncoder().encode(text).length > REASON_MAX_BYTES)
      throw new DOMException(`A reason has at most ${REASON_MAX_BYTES} bytes`, 'SyntaxError')
    // A reason needs a code; the web's WebSocket also uses 1000.
    this.#close({ code: code === NO_STATUS && text !== '' ? 1000 : code, reason: text })
  }

  pause(): void {
    if (this.#readyState < CLOSING) this.#paused ??= Promise.withResolvers()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused.resolve()
    this.#paused = undefined
    // Reads what the visitor sent meanwhile.
    if (this.#readyState === OPEN) this.#await('traffic', SILENCE_MS)
  }

  terminate(): void {
    if (this.#readyState >= CLOSING) return
    this.#readyState = CLOSING
    this.resume()
    this.#writer.cut()
    this.#writer.finished.then(() => this.#await('close', CLOSE_MS))
  }

  /**
   * Allows compressed messages in both directions. Called before `run`.
   * @param extensions the value that was sent to the visitor
   */
  useCompression(extensions: string, compression: MessageCompression): void {
    this.#extensions = extensions
    this.#compression = compression
    this.#reader.useCompression(compression)
  }

  /**
   * Serves the WebSocket on the stream, after the handshake, until the connection is over. Never rejects. It reads more
   * only when the listeners of a message have returned, so a visitor cannot send faster than they return, though it
   * can send faster than the work that they start.
   */
  async run(stream: ByteStream, closing: AbortSignal | undefined): Promise<void> {
    const goAway = (): void => this.#close({ code: GOING_AWAY, reason: '' })
    closing?.addEventListener('abort', goAway)
    try {
      this.#open(stream)
      if (closing?.aborted) goAway()
      await this.#receive(stream)
    } catch (error) {
      this.#failure ??= error
      if (error instanceof WebSocketError) await this.#refuse(error)
    }
    closing?.removeEventListener('abort', goAway)
    this.#end()
  }

  /**
   * Closes the socket when the handler did not return the response, or the visitor left before it was sent. Does
   * nothing after `run`.
   */
  abandon(error: unknown): void {
    if (this.#stream) return
    this.#failure ??= error
    this.#end()
  }

  #open(stream: ByteStream): void {
    this.#stream = stream
    this.#writer.start(stream, this.#compression)
    if (this.#readyState !== CONNECTING) return
    this.#readyState = OPEN
    this.#await('traffic', SILENCE_MS)
    this.dispatchEvent(new Event('open'))
  }

  async #receive(stream: ByteStream): Promise<void> {
    while (!this.#status) {
      await this.#paused?.promise
      const bytes = this.#reader.isHeld ? NOTHING : await stream.read()
      if (!bytes) return
      if (this.#awaited !== 'close') this.#await('traffic', SILENCE_MS)
      this.#reader.receive(bytes)
    }
    await this.#writer.finished
  }

  #message(data: string | Blob | ArrayBuffer): void {
    if (this.#readyState === OPEN) this.dispatchEvent(new MessageEvent('message', { data }))
  }

  /** Answers a Close frame with one of the same status (§5.5.1), after the queued messages, if they can be sent in time. */
  #closeReceived(status: CloseStatus): void {
    this.#status = status
    this.#readyState = CLOSING
    this.#await('close', CLOSE_MS)
    this.#writer.close({ code: status.code, reason: '' })
  }

  #close(status: CloseStatus): void {
    if (this.#readyState >= CLOSING) return
    this.#readyState = CLOSING
    this.resume()
    this.#writer.close(status)
    this.#writer.finished.then(() => this.#await('close', CLOSE_MS))
  }

  /** Sends the visitor the reason, and does not wait for its answer (§7.1.7). */
  #refuse({ closeCode }: WebSocketError): Promise<void> {
    if (closeCode === ABNORMAL) return Promise.resolve()
    this.#readyState = CLOSING
    this.#await('close', CLOSE_MS)
    this.#writer.close({ code: closeCode, reason: '' })
    return this.#writer.finished
  }

  /** Ends the connection, and with it the current read. */
  #drop(error: unknown): void {
    if (this.#readyState === CLOSED) return
    this.#failure ??= error
    this.#readyState = CLOSING
    this.resume()
    this.#writer.stop()
    this.#stream?.abort(error)
  }

  #await(what: 'traffic' | 'pong' | 'close', ms: number): void {
    if (this.#readyState === CLOSED) return
    this.#awaited = what
    this.#deadline.set(performance.now() + ms)
  }

  #late(): void {
    if (this.#awaited === 'traffic') {
      this.#writer.ping()
      // Nothing is read while the handler has paused.
      if (this.#paused) this.#await('traffic', SILENCE_MS)
      else this.#await('pong', PONG_MS)
    } else this.#drop(new WebSocketError(this.#awaited === 'pong' ? 'ping_timeout' : 'close_timeout'))
  }

  #end(): void {
    if (this.#readyState === CLOSED) return
    this.#readyState = CLOSED
    this.#deadline.close()
    this.#writer.stop()
    if (this.#failure !== undefined) this.dispatchEvent(new SocketErrorEvent(this.#failure))
    const { code, reason } = this.#status ?? { code: ABNORMAL, reason: '' }
    const wasClean = this.#status !== undefined && this.#failure === undefined
    this.dispatchEvent(new CloseEvent('close', { code, reason, wasClean }))
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
