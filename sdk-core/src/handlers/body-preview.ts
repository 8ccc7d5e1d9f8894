// Records the beginning of a body while the handler reads it.

export class BodyPreview {
  /** The stream that the handler reads instead. */
  readonly stream: ReadableStream<Uint8Array>
  /** Settles at the end of the body, or once more of it has arrived than is kept. Never rejects. */
  readonly seen: Promise<void>
  readonly #enough = Promise.withResolvers<void>()
  readonly #max: number
  readonly #kept: Uint8Array[] = []
  #keptBytes = 0
  #bytes = 0

  /** Reads up to `max` bytes even if the handler does not read, and then as fast as the handler. */
  constructor(body: ReadableStream<Uint8Array>, max: number) {
    this.#max = max
    this.seen = this.#enough.promise
    const reader = body.getReader()
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await reader.read()
            if (done) controller.close()
            else {
              this.#keep(value)
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

  get body(): Uint8Array<ArrayBuffer> {
    const body = new Uint8Array(this.#keptBytes)
    let at = 0
    for (const part of this.#kept) {
      body.set(part, at)
      at += part.length
    }
    return body
  }

  get bytes(): number {
    return this.#bytes
  }

  #keep(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    const part = chunk.slice(0, this.#max - this.#keptBytes)
    if (part.length === 0) return
    this.#kept.push(part)
    this.#keptBytes += part.length
  }
}
