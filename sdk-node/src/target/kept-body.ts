// A request's content that can be repeated if it is short.

import type { DirectBody, Field } from '@svc/sdk-core'

/** The most bytes of a request's content that are kept to repeat it for a target that refuses the first attempt's origin. */
export const REPEATED_BODY_MAX_BYTES: number = 64 * 1024

export class KeptBody implements DirectBody {
  readonly #source: DirectBody
  /** Undefined when the content is too long. */
  #pieces: Uint8Array[] | undefined = []
  #left = REPEATED_BODY_MAX_BYTES
  #isWhole = false

  constructor(source: DirectBody) {
    this.#source = source
  }

  get trailers(): readonly Field[] | undefined {
    return this.#source.trailers
  }

  async next(stallMs?: number): Promise<Uint8Array | undefined> {
    const bytes = await this.#source.next(stallMs)
    if (!bytes) this.#isWhole = true
    else if (bytes.length > this.#left) this.#pieces = undefined
    else {
      this.#left -= bytes.length
      this.#pieces?.push(bytes.slice())
    }
    return bytes
  }

  /** Returns the content again, or undefined when it was too long or has not ended. */
  again(): DirectBody | undefined {
    if (!this.#isWhole || !this.#pieces) return undefined
    const pieces = this.#pieces.values()
    return { next: async () => pieces.next().value, trailers: this.trailers }
  }
}
