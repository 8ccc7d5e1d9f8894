// A response body, pulled in batches: each holds what the handler has ready, up to a bound, for one write.

import { isBytes } from '../platform-objects.ts'
import { WRITE_BYTES } from '../semantics/limits.ts'

/** A BodyBatch is a part of a response's content, for one write. */
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
 * Chromium, one through a TransformStream 5. Timers are no measure: those of a page in the background wait a second.
 */
const READY_TURNS = 16

export class ResponseBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  /** A read whose result belongs to the next batch. */
  #ahead: Promise<Read> | undefined

  /** @throws TypeError when the body was read already */
  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader()
  }

  /**
   * Resolves with what is ready now, perhaps nothing.
   * @param wanted the bytes for which it waits, unless there are fewer
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
    this.#reader.cancel(reason).catch(() => {}) // A failure is the handler's clean-up. The body is over either way.
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
      if (!isBytes(piece)) throw new TypeError('A response body has to consist of Uint8Array chunks')
      if (batch.size > 0 && batch.size + piece.length > WRITE_BYTES) return batch
      batch.pieces.push(piece)
      batch.size += piece.length
      read = this.#reader.read()
      result = await ifReady(read)
    }
  }
}

/** Resolves with the result of `promise`, or with undefined when it has not settled soon. */
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
