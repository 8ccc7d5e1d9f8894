// A response body, pulled in batches: each holds what the handler has ready, up to a limit, for one write.

import { isBytes } from '../platform-objects.ts'
import { WRITE_BYTES } from '../semantics/limits.ts'

/** A BodyBatch is a part of a response's content for one write. */
export interface BodyBatch {
  /** One piece of any size, or several that are at most `WRITE_BYTES` together. */
  pieces: Uint8Array[]
  size: number
  /** True when the body ends after this batch. */
  done: boolean
}

type Read = ReadableStreamReadResult<Uint8Array>

/**
 * A read counts as ready when it settles within this many microtask turns. Bodies made from strings and buffers take 2 in
 * Chromium, one through a TransformStream 5. Timers do not work here: those of a background page wait a second.
 */
const READY_TURNS = 16

export class ResponseBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  /** A read whose result belongs to the next batch. */
  #ahead: Promise<Read> | undefined

  /** @throws TypeError when the body was already read */
  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader()
  }

  /**
   * Resolves with what is ready now, perhaps nothing.
   * @param wanted the number of bytes to wait for, unless the body ends earlier
   */
  async ready(wanted = 0): Promise<BodyBatch> {
    const batch = await this.#batch(false)
    while (!batch.done && batch.size < wanted) {
      const { pieces, size, done } = await this.#batch(true)
      batch.pieces.push(...pieces)
      batch.size += size
      batch.done = done
    }
    return batch
  }

  /** Resolves with the next batch, once there are bytes or the end. */
  next(): Promise<BodyBatch> {
    return this.#batch(true)
  }

  /** Tells the handler that the rest will not be read. */
  cancel(reason: unknown): void {
    this.#reader.cancel(reason).catch(() => {}) // Ignores a failed clean-up of the handler.
  }

  async #batch(wait: boolean): Promise<BodyBatch> {
    const batch: BodyBatch = { pieces: [], size: 0, done: false }
    let read = this.#ahead ?? this.#reader.read()
    let result = wait ? await read : await ifReady(read)
    for (;;) {
      this.#ahead = read
      if (!result) return batch
      if (result.done) return { ...batch, done: true }
      const piece: unknown = result.value
      if (!isBytes(piece)) throw new TypeError('The chunks of a response body must be Uint8Arrays')
      if (batch.size > 0 && batch.size + piece.length > WRITE_BYTES) return batch
      batch.pieces.push(piece)
      batch.size += piece.length
      read = this.#reader.read()
      result = await ifReady(read)
    }
  }
}

/** Resolves with the result of `promise`, or with undefined if it does not settle soon. */
async function ifReady<T>(promise: Promise<T>): Promise<T | undefined> {
  let settled: { value: T } | { error: unknown } | undefined
  promise.then(
    (value) => {
      settled = { value }
    },
    (error) => {
      settled = { error }
    },
  )
  for (let turn = 0; turn < READY_TURNS && !settled; turn++) await undefined
  const outcome = settled as { value: T } | { error: unknown } | undefined
  if (outcome && 'error' in outcome) throw outcome.error
  return outcome?.value
}
