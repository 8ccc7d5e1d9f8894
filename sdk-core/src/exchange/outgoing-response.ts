// A response on its way to the visitor, as each version of HTTP writes it, whether the handler made a Response or not.

import type { Field } from '../semantics/fields.ts'
import { httpDate } from '../semantics/http-date.ts'
import type { BodyBatch } from './response-body.ts'

export interface OutgoingResponse {
  readonly status: number
  /** The reason phrase, empty for the standard one. */
  readonly statusText: string
  /** True when there is no content, whatever the length says: for HEAD, 204 and 304. */
  readonly isEmpty: boolean
  /** The Content-Length to send. */
  readonly length: number | undefined
  /** True when the handler wants the connection to end after the response. */
  readonly isLast: boolean
  /** The value of Strict-Transport-Security, where the handler sets none. */
  hsts: string | undefined
  /** The fields to send in any version. Each Set-Cookie is an entry of its own. */
  readonly fields: Field[]
  /**
   * Yields the content as the caller pulls it: one batch at least, the last with `done`.
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

/** The content of a response that has none. */
export const NOTHING: BodyBatch = { pieces: [], size: 0, done: true }

/** Returns whether the response has no content, whatever its fields say (RFC 9110 §6.4.1). */
export function hasNoContent(status: number, method: string): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}

/** Adds a Date and Strict-Transport-Security, unless `fields` have them, and the length when it is known. */
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
