// The seam between transports and what runs on them: an ordered, reliable byte stream that half-closes.

/** A decrypted TLS connection, or a stream of a multiplexed session. */
export interface ByteStream {
  /**
   * The next bytes, or undefined at the orderly end; rejects when the stream broke. One read at a time.
   * The bytes are the caller's: the stream keeps no reference to them and writes to their memory no more.
   */
  read(): Promise<Uint8Array | undefined>
  /** Resolves when it is right to write more; rejects when the stream broke. The bytes must not change afterwards. */
  write(bytes: Uint8Array): Promise<void>
  /** Ends our direction after all that was written; the other direction stays open. */
  end(): Promise<void>
  /** Ends both directions at once; pending and later reads and writes reject. Harmless when all is over. */
  abort(reason?: unknown): void
}
