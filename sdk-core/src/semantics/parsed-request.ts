// A parsed request of any HTTP version, and the checks that all versions share.

import { valuesOf } from './fields.ts'
import { HttpError } from './http-error.ts'
import type { RequestHead } from './request-head.ts'

/** A ParsedRequest is a request of any HTTP version. */
export interface ParsedRequest {
  head: RequestHead
  /** The request's URL. Undefined for `OPTIONS *`. */
  url: string | undefined
  /** True when the visitor waits for `100 Continue` before it sends the body. */
  expectsContinue: boolean
  /** True when the visitor asks for a WebSocket. */
  webSocket: boolean
}

/** A site is not a forward proxy, and TRACE would expose to scripts what they must not see, such as HttpOnly cookies. */
const METHODS_NOT_SERVED: ReadonlySet<string> = new Set(['CONNECT', 'TRACE'])
const DIGITS = /^\d+$/

/**
 * Returns the length of the body in bytes.
 * @param lengths the values of Content-Length, at least one
 * @throws HttpError `invalid_content_length`, `content_too_large`
 */
export function parseContentLength(lengths: string[]): number {
  const text = lengths[0]!
  if (lengths.length > 1 || !DIGITS.test(text)) throw new HttpError('invalid_content_length')
  const length = Number(text)
  if (!Number.isSafeInteger(length)) throw new HttpError('content_too_large')
  return length
}

/**
 * Refuses the methods that no site serves. The handler decides about all others (RFC 9110 §9.1).
 * @throws HttpError `method_not_implemented`
 */
export function checkMethod(method: string): void {
  if (METHODS_NOT_SERVED.has(method)) throw new HttpError('method_not_implemented')
}

/**
 * Returns whether the visitor expects `100 Continue` (RFC 9110 §10.1.1). HTTP/1.0 has no expectations, and others are
 * refused.
 * @throws HttpError `expectation_failed`
 */
export function parseExpect(head: RequestHead): boolean {
  if (head.version === '1.0') return false
  const values = valuesOf(head.fields, 'expect')
  if (values.some((value) => value.toLowerCase() !== '100-continue'))
    throw new HttpError('expectation_failed')
  return values.length > 0
}
