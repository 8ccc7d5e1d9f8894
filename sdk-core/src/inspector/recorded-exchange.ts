// Records a request on the direct path: its content and that of the response, as they pass.

import type { DirectBody, DirectExchange, DirectResponse } from '../exchange/direct.ts'
import type { BodyBatch } from '../exchange/response-body.ts'
import type { Field } from '../semantics/fields.ts'
import type { Recording } from './recording.ts'

/** Fetch standard, "null body status". */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** The content of a request, which the recording gets as the handler reads it. */
export class RecordedBody implements DirectBody {
  /** Set before the first read. */
  recording: Recording | undefined
  readonly #source: DirectBody

  constructor(source: DirectBody) {
    this.#source = source
  }

  get trailers(): readonly Field[] | undefined {
    return this.#source.trailers
  }

  async next(stallMs?: number): Promise<Uint8Array | undefined> {
    const bytes = await this.#source.next(stallMs)
    if (bytes) this.recording?.requested(bytes)
    else if (this.#source.trailers) this.recording?.requestTrailers(this.#source.trailers)
    return bytes
  }
}

export class RecordedExchange implements DirectExchange {
  readonly #exchange: DirectExchange
  readonly #recording: Recording

  constructor(exchange: DirectExchange, recording: Recording) {
    this.#exchange = exchange
    this.#recording = recording
  }

  async respond(): Promise<DirectResponse> {
    const recording = this.#recording
    try {
      const answer = await this.#exchange.respond()
      recording.answered({ status: answer.status, statusText: answer.statusText, headers: answer.fields })
      if (recording.method === 'HEAD' || WITHOUT_BODY.has(answer.status)) recording.ended()
      return new RecordedAnswer(answer, recording)
    } catch (error) {
      recording.failed(error)
      throw error
    }
  }

  cancel(reason: unknown): void {
    this.#recording.failed(reason)
    this.#exchange.cancel(reason)
  }
}

class RecordedAnswer implements DirectResponse {
  readonly status: number
  readonly statusText: string
  readonly fields: Field[]
  readonly length: number | undefined
  readonly #answer: DirectResponse
  readonly #recording: Recording

  constructor(answer: DirectResponse, recording: Recording) {
    this.status = answer.status
    this.statusText = answer.statusText
    this.fields = answer.fields
    this.length = answer.length
    this.#answer = answer
    this.#recording = recording
  }

  get trailers(): readonly Field[] | undefined {
    return this.#answer.trailers
  }

  ready(): BodyBatch {
    return this.#seen(this.#answer.ready())
  }

  async next(): Promise<BodyBatch> {
    try {
      return this.#seen(await this.#answer.next())
    } catch (error) {
      this.#recording.failed(error)
      throw error
    }
  }

  cancel(reason: unknown): void {
    this.#recording.failed(reason)
    this.#answer.cancel(reason)
  }

  #seen(batch: BodyBatch): BodyBatch {
    for (const piece of batch.pieces) this.#recording.responded(piece)
    if (batch.done) this.#recording.ended(this.#answer.trailers)
    return batch
  }
}
