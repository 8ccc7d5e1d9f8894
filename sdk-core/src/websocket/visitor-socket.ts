// A visitor's WebSocket as the handler sees it, with the members of the web's WebSocket.

/** A SocketErrorEvent holds the error that broke the connection. A `close` event follows. */
export class SocketErrorEvent extends Event {
  /**
   * An error with name `WebSocketError` and a stable `code` when the visitor violated the protocol, otherwise the connection's
   * error.
   */
  readonly error: unknown

  constructor(error: unknown) {
    super('error')
    this.error = error
  }
}

/** SocketEventMap maps the types of the events of a visitor's WebSocket. */
export interface SocketEventMap {
  open: Event
  /** The event of a message. Its `data` is a string, or a Blob or ArrayBuffer as `binaryType` says. */
  message: Omit<MessageEvent, 'data'> & { readonly data: string | Blob | ArrayBuffer }
  error: SocketErrorEvent
  close: CloseEvent
}

/** A SocketListener is a function, or an object with the method `handleEvent`. */
type SocketListener<K extends keyof SocketEventMap> =
  | ((event: SocketEventMap[K]) => void)
  | { handleEvent(event: SocketEventMap[K]): void }

type Handler<K extends keyof SocketEventMap> = ((event: SocketEventMap[K]) => void) | null

/** A VisitorSocket is the WebSocket of one visitor. */
export interface VisitorSocket extends EventTarget {
  readonly CONNECTING: 0
  readonly OPEN: 1
  readonly CLOSING: 2
  readonly CLOSED: 3
  /** The URL that the visitor opened, with the scheme `wss:`. */
  readonly url: string
  /** The state: `CONNECTING`, `OPEN`, `CLOSING` or `CLOSED`. The socket opens when the handler's response is sent. */
  readonly readyState: number
  /** The negotiated subprotocol, or ''. */
  readonly protocol: string
  /** The negotiated extensions, from `open` on: permessage-deflate with its parameters, or ''. */
  readonly extensions: string
  /**
   * The type of `data` in the event of a binary message.
   * @default blob
   */
  binaryType: 'arraybuffer' | 'blob'
  /**
   * The bytes passed to `send` that the connection has not accepted yet. A handler that sends much should wait while it is high.
   */
  readonly bufferedAmount: number
  onopen: Handler<'open'>
  onmessage: Handler<'message'>
  onerror: Handler<'error'>
  onclose: Handler<'close'>
  /**
   * Sends a message. If the socket is closing or closed, the data is discarded. A visitor with too much data queued
   * is dropped, with the error `buffer_full`.
   * @throws DOMException `InvalidStateError` before the socket is open
   */
  send(data: string | ArrayBuffer | ArrayBufferView | Blob): void
  /**
   * Closes the socket after everything that was sent.
   * @param code any code that a Close frame may carry, even those that a page may not send, such as 1001, 1008 and 1011
   * @throws DOMException `InvalidAccessError` for another code, `SyntaxError` for a reason of more than 123 bytes
   */
  close(code?: number, reason?: string): void
  /** Stops reading messages, so that the visitor has to wait. */
  pause(): void
  /** Reads messages again. */
  resume(): void
  /** Ends the connection after everything that was sent, without a Close frame: the visitor sees 1006, as when a server dies. */
  terminate(): void
  addEventListener<K extends keyof SocketEventMap>(
    type: K,
    listener: SocketListener<K> | null,
    options?: AddEventListenerOptions | boolean,
  ): void
  removeEventListener<K extends keyof SocketEventMap>(
    type: K,
    listener: SocketListener<K> | null,
    options?: EventListenerOptions | boolean,
  ): void
}

/** Implements attributes such as `onmessage`: one listener each, in the order in which they were first set. */
export class HandlerAttributes {
  readonly #target: EventTarget
  readonly #handlers: Map<string, (event: never) => void> = new Map()

  constructor(target: EventTarget) {
    this.#target = target
  }

  get<K extends keyof SocketEventMap>(type: K): Handler<K> {
    return (this.#handlers.get(type) as Handler<K> | undefined) ?? null
  }

  set<K extends keyof SocketEventMap>(type: K, handler: Handler<K>): void {
    if (typeof handler !== 'function') {
      this.#handlers.delete(type)
      return
    }
    this.#handlers.set(type, handler)
    this.#target.addEventListener(type, this.#call) // The same listener is added only once.
  }

  readonly #call = (event: Event): void => {
    this.#handlers.get(event.type)?.call(this.#target, event as never)
  }
}
