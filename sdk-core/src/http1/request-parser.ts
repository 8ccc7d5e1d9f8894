// What a head asks for, checked before a handler sees it: which resource, with how much body, and what comes after.

import { HttpError } from '../semantics/http-error.ts'
import { requestUrl, type Site } from '../semantics/request-target.ts'
import { type Head, valuesOf } from './head-parser.ts'

/** Whatever the version of HTTP. */
export interface Asked {
  head: Head
  /** Undefined for `OPTIONS *`. */
  url: string | undefined
  /** The visitor waits for `100 Continue` before it sends the body. */
  expectsContinue: boolean
  /** The visitor asks for a WebSocket. */
  webSocket: boolean
}

/** Over HTTP/1.1, which frames a message by its head. */
export interface AskedInOrder extends Asked {
  /** Octets of the body, or `chunked` when it says itself where it ends. */
  length: number | 'chunked'
  /** Whether the visitor wants to go on after the response. */
  persistent: boolean
}

/** A site is no proxy, and a TRACE would show a script of the page what it must not see: HttpOnly cookies, for one. */
const METHODS_NOT_SERVED: ReadonlySet<string> = new Set(['CONNECT', 'TRACE'])
const DIGITS = /^\d+$/

/** @throws HttpError with the status that refuses the request */
export function ask(head: Head, site: Site): AskedInOrder {
  const length = bodyLength(head)
  checkMethod(head.method)
  const url = requestUrl(head, site)
  const expectsContinue = expects(head) && length !== 0
  return { head, url, length, expectsContinue, persistent: isPersistent(head), webSocket: isWebSocket(head) }
}

/** RFC 9112 §6.3, with everything refused that two parsers could read in two ways (§11.2). */
function bodyLength(head: Head): number | 'chunked' {
  const codings = valuesOf(head.fields, 'transfer-encoding')
  const lengths = valuesOf(head.fields, 'content-length')
  if (codings.length === 0) return lengths.length === 0 ? 0 : parseLength(lengths)
  if (lengths.length > 0) throw new HttpError('ambiguous_length')
  const coding = codings.join(',').toLowerCase()
  // HTTP/1.0 has no transfer codings: who sends one has its framing wrong (RFC 9112 §6.1).
  if (coding === 'chunked' && head.version === '1.1') return 'chunked'
  const isOther = /^[a-z]+, ?chunked$/.test(coding) && head.version === '1.1'
  throw new HttpError(isOther ? 'transfer_coding_not_implemented' : 'invalid_transfer_encoding')
}

/**
 * @param lengths the values of Content-Length, one at least
 * @throws HttpError `invalid_content_length`, `content_too_large`
 */
export function parseLength(lengths: string[]): number {
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
export function expects(head: Head): boolean {
  if (head.version === '1.0') return false
  const values = valuesOf(head.fields, 'expect')
  if (values.some((value) => value.toLowerCase() !== '100-continue'))
    throw new HttpError('expectation_failed')
  return values.length > 0
}

/**
 * RFC 9112 §9.3. After a declined upgrade it ends: what was sent behind it may be meant in the other protocol, and
 * parsers differ in whether they read it as requests.
 */
function isPersistent(head: Head): boolean {
  const has = (name: string): boolean => lists(head, 'connection', name)
  return !has('close') && !has('upgrade') && (head.version === '1.1' || has('keep-alive'))
}

/** RFC 9110 §7.8: HTTP/1.0 has no upgrades. */
function isWebSocket(head: Head): boolean {
  return head.version === '1.1' && lists(head, 'upgrade', 'websocket') && lists(head, 'connection', 'upgrade')
}

function lists({ fields }: Head, name: string, value: string): boolean {
  const values = valuesOf(fields, name).join(',').toLowerCase().split(',')
  return values.some((one) => one.trim() === value)
}
