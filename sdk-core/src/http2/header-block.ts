// Collects the fragments of a header block (RFC 9113 §4.3): HEADERS, then CONTINUATIONs.

import { concat } from '../bytes/concat.ts'

export class HeaderBlock {
  readonly streamId: number
  /** True when the stream ends with the block. */
  readonly isEnd: boolean
  readonly isSelfDependent: boolean
  readonly #fragments: Uint8Array[] = []
  size = 0

  constructor(streamId: number, isEnd: boolean, isSelfDependent: boolean) {
    this.streamId = streamId
    this.isEnd = isEnd
    this.isSelfDependent = isSelfDependent
  }

  get fragments(): number {
    return this.#fragments.length
  }

  get bytes(): Uint8Array {
    return concat(this.#fragments)
  }

  append(fragment: Uint8Array): void {
    this.#fragments.push(fragment)
    this.size += fragment.length
  }
}
