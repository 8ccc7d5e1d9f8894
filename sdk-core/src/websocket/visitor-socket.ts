// A visitor's WebSocket as the handler sees it: it has the members of the web's WebSocket.

/** What ended the connection out of order; a `close` event follows. */
export class SocketErrorEvent extends Event {
  /** An error with name `WebSocketError` and a stable `code` for what the visitor did, or what the connection broke with. */
  readonly error: unknown

  constructor(error: unknown) {
    super('error')
    this.error = error
  }
}

/** SocketEventMap has the events of a visitor's WebSocket by their type. */
export interface SocketEventMap {
  open: Event
  /** `data` is a string, or a Blob or ArrayBuffer as `binaryType` says. */
  message: MessageEvent<string | Blob | ArrayBuffer>
  error: SocketErrorEvent
  close: CloseEvent
}

type Handler<K extends keyof SocketEventMap> = ((event: SocketEventMap[K]) => void) | null

/** A visitor's WebSocket. */
export interface VisitorSocket extends EventTarget {
  /** As `WebSocket.CONNECTING`, `OPEN`, `CLOSING` and `CLOSED`: 0 to 3. It opens when the handler's response is sent. */
  readonly readyState: number
  /** The subprotocol, or ''. */
  readonly protocol: string
  /** What was agreed on with the visitor, from `open` on: permessage-deflate with its parameters, or ''. */
  readonly extensions: string
  /**
   * The type of `data` in the event of a binary message.
   * @default blob
   */
  binaryType: BinaryType
  /** Bytes given to `send` that the connection has not taken yet. Who sends much waits while it is high. */
  readonly bufferedAmount: number
  onopen: Handler<'open'>
  onmessage: Handler<'message'>
  onerror: Handler<'error'>
  onclose: Handler<'close'>
  /**
   * Discards the data when the socket is closing or closed. A visitor for whom too much waits already is dropped,
   * with the error `buffer_full`.
   * @throws DOMException `InvalidStateError` before the socket is open
   */
  send(data: string | ArrayBuffer | ArrayBufferView | Blob): void
  /**
   * Everything that was sent goes first.
   * @param code any that a Close frame may carry, so also 1001, 1008, 1011, …: a server has more to say than a page
   * @throws DOMException `InvalidAccessError` for another code, `SyntaxError` for a reason of more than 123 bytes
   */
  close(code?: number, reason?: string): void
  addEventListener<K extends keyof SocketEventMap>(
    type: K,
    listener: (event: SocketEventMap[K]) => void,
    options?: AddEventListenerOptions | boolean,
  ): void
  removeEventListener<K extends keyof SocketEventMap>(
    type: K,
    listener: (event: SocketEventMap[K]) => void,
    options?: EventListenerOptions | boolean,
  ): void
}

/** The `on…` attributes: one listener each, in the order in which they were first set. */
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
    this.#target.addEventListener(type, this.#call) // once only: it is the same listener each time
  }

  readonly #call = (event: Event): void => {
    this.#handlers.get(event.type)?.call(this.#target, event as never)
  }
}
