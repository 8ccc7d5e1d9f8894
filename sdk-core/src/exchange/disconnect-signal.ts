// Aborts the signal of a request when the visitor disconnects.

/** The calls by which an HTTP version reports that a visitor disconnected. */
export interface DisconnectListener {
  /** Called when the visitor ended its direction (close_notify). */
  visitorLeft(): void
  /** Called when nothing can be sent or received any longer. */
  connectionBroken(error: unknown): void
}

/** The promises that reject when the connections of requests break, for `lossSignal`. */
export const losses: WeakMap<Request, Promise<never>> = new WeakMap()

export class DisconnectSignal implements DisconnectListener {
  #controller: AbortController | undefined
  #reason: DOMException | undefined
  readonly #broken = Promise.withResolvers<never>()
  #isBroken = false

  constructor() {
    this.#broken.promise.catch(() => {}) // The rejection matters only while the SDK waits for the handler.
  }

  /** The signal of the request. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  /** True when the visitor ended its direction, or the connection broke. */
  get hasLeft(): boolean {
    return this.#reason !== undefined
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  /** Rejects with the error that broke the connection. */
  get broken(): Promise<never> {
    return this.#broken.promise
  }

  /**
   * Aborts the request's signal when the visitor ends its direction, though the response is still sent. close_notify
   * ends only one direction (RFC 8446 §6.1), so a visitor may half-close and wait. But browsers and curl never do that:
   * they send it when a tab is closed or a transfer is stopped. While nothing is sent, it is the only sign of
   * that.
   */
  visitorLeft(): void {
    this.#reason ??= new DOMException('The visitor left', 'AbortError')
    this.#controller?.abort(this.#reason)
  }

  connectionBroken(error: unknown): void {
    this.#isBroken = true
    this.visitorLeft()
    this.#broken.reject(error)
  }
}
