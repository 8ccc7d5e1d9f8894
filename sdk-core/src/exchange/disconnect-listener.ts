// The calls by which HTTP learns that a visitor disconnected.

export interface DisconnectListener {
  /** Called when the visitor ended its direction (close_notify). */
  visitorLeft(): void
  /** Called when nothing can be sent or received any more. */
  connectionBroken(error: unknown): void
}
