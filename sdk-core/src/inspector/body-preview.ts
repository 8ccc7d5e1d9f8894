// Reads the beginning of a request's body before the handler does, and then as fast as the handler.

/** A BodyPreview is the body that the handler reads instead. */
export class BodyPreview {
  readonly stream: ReadableStream<Uint8Array>
  /** Settles at the end of the body, or once more of it has arrived than is kept. Never rejects. */
  readonly seen: Promise<void>
  readonly #enough = Promise.withResolvers<void>()
  #bytes = 0

  /**
   * @param max the bytes to read even if the handler does not read
   * @param onBytes called with all bytes that pass
   */
  constructor(body: ReadableStream<Uint8Array>, max: number, onBytes: (bytes: Uint8Array) => void) {
    this.seen = this.#enough.promise
    const reader = body.getReader()
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await reader.read()
            if (done) controller.close()
            else {
              this.#bytes += value.length
              onBytes(value)
              controller.enqueue(value)
            }
            if (done || this.#bytes > max) this.#enough.resolve()
          } catch (error) {
            this.#enough.resolve()
            throw error
          }
        },
        cancel: (reason) => {
          this.#enough.resolve()
          return reader.cancel(reason)
        },
      },
      // One byte more than is kept shows whether there is more.
      new ByteLengthQueuingStrategy({ highWaterMark: max + 1 }),
    )
  }
}
