// The response of another server on the direct path. This code is loaded only for handlers with a direct path.

import type { Field } from '../semantics/fields.ts'
import type { DirectResponse } from './direct.ts'
import { completed, hasNoContent, NOTHING, type OutgoingResponse } from './outgoing-response.ts'
import type { BodyBatch } from './response-body.ts'

/** PassedResponse is the response of another server, on the direct path. */
export class PassedResponse implements OutgoingResponse {
  readonly isEmpty: boolean
  readonly length: number | undefined
  readonly isLast = false
  hsts: string | undefined
  readonly #passed: DirectResponse
  readonly #first: BodyBatch

  /** @param method the request's method */
  constructor(passed: DirectResponse, method: string) {
    this.#passed = passed
    this.isEmpty = hasNoContent(passed.status, method)
    this.#first = this.isEmpty ? NOTHING : passed.ready()
    const { length, status } = passed
    const isWhole = this.#first.done && !this.isEmpty && !passed.trailers
    if (status !== 204) this.length = length ?? (isWhole ? this.#first.size : undefined)
  }

  get status(): number {
    return this.#passed.status
  }

  get statusText(): string {
    return this.#passed.statusText
  }

  get fields(): Field[] {
    return completed(this.#passed.fields, this)
  }

  get trailers(): readonly Field[] | undefined {
    return this.#passed.trailers
  }

  async *batches(): AsyncGenerator<BodyBatch, void> {
    for (let batch = this.#first; ; batch = await this.#passed.next()) {
      yield batch
      if (batch.done) return
    }
  }

  cancel(reason: unknown): void {
    this.#passed.cancel(reason)
  }
}
