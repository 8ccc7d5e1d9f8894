// What a request asks for, in any version of HTTP, and the checks that all versions share.

import { valuesOf } from './fields.ts'
import { HttpError } from './http-error.ts'
import type { RequestHead } from './request-head.ts'

/** Whatever the version of HTTP. */
export interface ParsedRequest {
  head: RequestHead
  /** Undefined for `OPTIONS *`. */
  url: string | undefined
  /** The visitor waits for `100 Continue` before it sends the body. */
  expectsContinue: boolean
  /** The visitor asks for a WebSocket. */
  webSocket: boolean
}

/** A site is no proxy, and a TRACE would show a script of the page what it must not see: HttpOnly cookies, for one. */
const METHODS_NOT_SERVED: ReadonlySet<string> = new Set(['CONNECT', 'TRACE'])
const DIGITS = /^\d+$/

/**
 * @param lengths the values of Content-Length, one at least
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
 * Any other token is for the handler to know (RFC 9110 §9.1).
 * @throws HttpError `method_not_implemented`
 */
export function checkMethod(method: string): void {
  if (METHODS_NOT_SERVED.has(method)) throw new HttpError('method_not_implemented')
}

/**
 * RFC 9110 §10.1.1: ignored in HTTP/1.0; what cannot be met is refused.
 * @throws HttpError `expectation_failed`
 */
export function parseExpect(head: RequestHead): boolean {
  if (head.version === '1.0') return false
  const values = valuesOf(head.fields, 'expect')
  if (values.some((value) => value.toLowerCase() !== '100-continue'))
    throw new HttpError('expectation_failed')
  return values.length > 0
}
