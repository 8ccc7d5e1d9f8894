// What is called when a visitor disconnects.

export interface DisconnectListener {
  /** The visitor ended its direction (close_notify). */
  visitorLeft(): void
  /** Nothing can be sent or received any more. */
  connectionBroken(error: unknown): void
}
