// Writes bytes to the visitor in order, one write at a time; each has a deadline.

import type { ByteStream } from '../bytes/byte-stream.ts'
import { HttpError } from '../semantics/http-error.ts'
import { HALF_CLOSED_MS, WRITE_STALL_MS } from '../semantics/limits.ts'
import { Deadline } from '../timers/deadline.ts'

export class DeadlineWriter {
  readonly #stream: ByteStream
  readonly #broken: (error: unknown) => void
  readonly #deadline: Deadline
  #last: Promise<void> = Promise.resolve()
  #reject: ((error: unknown) => void) | undefined
  #halfClosed = false
  #failed = false
  #failure: unknown

  /** @param broken called when the stream failed or the visitor stopped reading; it must call `fail` */
  constructor(stream: ByteStream, broken: (error: unknown) => void) {
    this.#stream = stream
    this.#broken = broken
    this.#deadline = new Deadline(() => broken(new HttpError('visitor_stalled')))
  }

  /** Writes bytes. Resolves when the caller may write more. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#queue(() => this.#stream.write(bytes))
  }

  /** Ends the SDK's direction. */
  end(): Promise<void> {
    return this.#queue(() => this.#stream.end())
  }

  /** Notes that the visitor ended its direction: from now on, silence also counts as stalling. */
  halfClosed(): void {
    this.#halfClosed = true
    if (this.#reject === undefined) this.#await()
  }

  /** Makes the current write and all later ones reject, because the connection is over. */
  fail(error: unknown): void {
    this.#failed = true
    this.#failure = error
    this.#reject?.(error)
    this.#deadline.close()
  }

  #queue(action: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(() => this.#run(action))
    return this.#last
  }

  async #run(action: () => Promise<void>): Promise<void> {
    if (this.#failed) throw this.#failure
    this.#deadline.set(performance.now() + WRITE_STALL_MS)
    await new Promise<void>((resolve, reject) => {
      this.#reject = reject
      action().then(resolve, (error) => {
        this.#broken(error)
        reject(error)
      })
    })
    this.#reject = undefined
    this.#await()
  }

  #await(): void {
    if (this.#halfClosed) this.#deadline.set(performance.now() + HALF_CLOSED_MS)
    else this.#deadline.clear()
  }
}
