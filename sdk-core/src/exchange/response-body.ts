// A response body, pulled in groups: as much as the handler has ready, up to a bound, for one write.

import { WRITE_BYTES } from '../semantics/limits.ts'

export interface Group {
  /** Either one piece of any size, or several that are at most `WRITE_BYTES` together. */
  pieces: Uint8Array[]
  size: number
  /** Whether the body ends after this group. */
  done: boolean
}

type Read = ReadableStreamReadResult<Uint8Array>

/**
 * Microtask turns that a read has to settle in to count as ready. Bodies made from strings and buffers take 2 in
 * Chromium, one through a TransformStream 5. Timers are no measure: those of a page in the background wait a second.
 */
const READY_TURNS = 16

export class Content {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  /** A read whose result belongs to the next group. */
  #ahead: Promise<Read> | undefined

  /** @throws TypeError when the body was read already */
  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader()
  }

  /** What is ready now; possibly nothing. */
  ready(): Promise<Group> {
    return this.#group(false)
  }

  /** Waits until something is there. */
  next(): Promise<Group> {
    return this.#group(true)
  }

  /** Tells the handler that nobody reads on. */
  cancel(reason: unknown): void {
    this.#reader.cancel(reason).catch(() => {}) // the handler's own clean-up; the body is over either way
  }

  async #group(wait: boolean): Promise<Group> {
    const group: Group = { pieces: [], size: 0, done: false }
    let read = this.#ahead ?? this.#reader.read()
    let result = wait ? await read : await ifReady(read)
    for (;;) {
      this.#ahead = read
      if (!result) return group
      if (result.done) return { ...group, done: true }
      const piece: unknown = result.value
      if (!(piece instanceof Uint8Array))
        throw new TypeError('A response body has to consist of Uint8Array chunks')
      if (group.size > 0 && group.size + piece.length > WRITE_BYTES) return group
      group.pieces.push(piece)
      group.size += piece.length
      read = this.#reader.read()
      result = await ifReady(read)
    }
  }
}

/** What `promise` has settled with, or undefined when it has not. */
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
