// The content of a request while the handler reads it: bounded, and reporting each part.

import type { DirectBody } from '../exchange/direct.ts'
import type { Field } from '../semantics/fields.ts'
import { HttpError } from '../semantics/http-error.ts'

export class WatchedBody implements DirectBody {
  readonly #source: DirectBody
  readonly #progress: () => void
  #left: number
  #isTooLarge = false

  /** @param progress called with each part that the handler reads */
  constructor(source: DirectBody, maxBytes: number | undefined, progress: () => void) {
    this.#source = source
    this.#left = maxBytes ?? Number.POSITIVE_INFINITY
    this.#progress = progress
  }

  /** True when the visitor sent more than is allowed. */
  get isTooLarge(): boolean {
    return this.#isTooLarge
  }

  get trailers(): readonly Field[] | undefined {
    return this.#source.trailers
  }

  async next(stallMs?: number): Promise<Uint8Array | undefined> {
    if (this.#isTooLarge) throw new HttpError('content_too_large')
    const bytes = await this.#source.next(stallMs)
    this.#left -= bytes?.length ?? 0
    this.#isTooLarge = this.#left < 0
    if (this.#isTooLarge) throw new HttpError('content_too_large')
    this.#progress()
    return bytes
  }
}
