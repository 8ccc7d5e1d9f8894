// The interface of a response for the writers of all HTTP versions, with or without a Response of the handler.

import type { Field } from '../semantics/fields.ts'
import { httpDate } from '../semantics/http-date.ts'
import type { BodyBatch } from './response-body.ts'

export interface OutgoingResponse {
  readonly status: number
  /** The reason phrase, empty for the standard one. */
  readonly statusText: string
  /** True when there is no content, whatever `length` is: for HEAD, 204 and 304. */
  readonly isEmpty: boolean
  /** The Content-Length to send. */
  readonly length: number | undefined
  /** True when the handler wants the connection to end after the response. */
  readonly isLast: boolean
  /** The value of Strict-Transport-Security, if the handler sets none. */
  hsts: string | undefined
  /** The fields to send in any version. Each Set-Cookie is a separate entry. */
  readonly fields: Field[]
  /**
   * Yields the content as the caller pulls it: at least one batch, the last with `done`.
   * @throws HttpError `content_length_mismatch`
   * @throws the error of the body
   */
  batches(): AsyncGenerator<BodyBatch, void>
  /** The trailer fields, once the last batch was yielded. */
  readonly trailers?: readonly Field[] | undefined
  /** Tells the handler that the rest of the body will not be read. */
  cancel(reason: unknown): void
}

const HSTS = 'strict-transport-security'

/** Empty content. */
export const NOTHING: BodyBatch = { pieces: [], size: 0, done: true }

/** Returns whether the response has no content, whatever its fields say (RFC 9110 §6.4.1). */
export function hasNoContent(status: number, method: string | undefined): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}

/** Adds Date and Strict-Transport-Security, unless `fields` has them, and the length if known. */
export function completed(
  fields: Field[],
  { length, hsts }: Pick<OutgoingResponse, 'length' | 'hsts'>,
): Field[] {
  const lacks = (name: string): boolean => !fields.some((field) => field[0] === name)
  if (lacks('date')) fields.push(['date', httpDate()])
  if (hsts && lacks(HSTS)) fields.push([HSTS, hsts])
  if (length !== undefined && lacks('content-length')) fields.push(['content-length', String(length)])
  return fields
}
