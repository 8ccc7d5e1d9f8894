// The seam between a carrier's connections and what they run over: a WebSocket, or a TLS connection of Node.

/** ConnectionEvents are what a transport reports to the connection that was attached to it. */
export interface ConnectionEvents {
  /** Called with bytes of the relay: a WebSocket message, or a chunk of a byte stream. The callee owns them. */
  message(bytes: Uint8Array): void
  /**
   * Called once when the transport is gone, and only after it was open.
   * @param code the WebSocket's close code, which may be one of `CARRIER_CLOSE`; undefined where the transport has none
   */
  closed(code: number | undefined): void
}

/** A ConnectionTransport carries one yamux session. */
export interface ConnectionTransport {
  /** Sends bytes. When the transport has buffered too much, the promise resolves once it has drained. */
  send(bytes: Uint8Array): void | Promise<void>
  /**
   * True while `send` copies the bytes before it returns; yamux reads this before each message. A browser's WebSocket
   * always does, `ws` does not always, and TLS does unless an earlier write waits.
   */
  readonly copies?: boolean
  close(): void
}
