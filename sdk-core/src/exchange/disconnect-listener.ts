// What is called when a visitor disconnects.

export interface Presence {
  /** The visitor ended its direction (close_notify). */
  left(): void
  /** Nothing can be sent or received any more. */
  broken(error: unknown): void
}
