// Finds the length of an HTTP/1.1 request's body, and whether the connection persists (RFC 9112 §6.3, §9.3).

import { valuesOf } from '../semantics/fields.ts'
import { HttpError } from '../semantics/http-error.ts'
import {
  checkMethod,
  type ParsedRequest,
  parseContentLength,
  parseExpect,
} from '../semantics/parsed-request.ts'
import type { RequestHead } from '../semantics/request-head.ts'
import { requestUrl, type ServedAuthority } from '../semantics/request-target.ts'

/** An Http1Request adds the framing of HTTP/1.1 to a request. */
export interface Http1Request extends ParsedRequest {
  /** The length of the body in octets, or `chunked`. */
  length: number | 'chunked'
  /** True when the visitor wants to reuse the connection. */
  persistent: boolean
}

/**
 * Frames a parsed request head.
 * @throws HttpError with the status that refuses the request
 */
export function frameRequest(head: RequestHead, site: ServedAuthority): Http1Request {
  const length = bodyLength(head)
  checkMethod(head.method)
  const url = requestUrl(head, site)
  const expectsContinue = parseExpect(head) && length !== 0
  return { head, url, length, expectsContinue, persistent: isPersistent(head), webSocket: isWebSocket(head) }
}

/** Returns the body's length (RFC 9112 §6.3). It refuses everything that parsers may read differently (§11.2). */
function bodyLength(head: RequestHead): number | 'chunked' {
  const codings = valuesOf(head.fields, 'transfer-encoding')
  const lengths = valuesOf(head.fields, 'content-length')
  if (codings.length === 0) return lengths.length === 0 ? 0 : parseContentLength(lengths)
  if (lengths.length > 0) throw new HttpError('ambiguous_length')
  const coding = codings.join(',').toLowerCase()
  // HTTP/1.0 has no transfer codings: a request with one has invalid framing (RFC 9112 §6.1).
  if (coding === 'chunked' && head.version === '1.1') return 'chunked'
  const isOther = /^[a-z]+, ?chunked$/.test(coding) && head.version === '1.1'
  throw new HttpError(isOther ? 'transfer_coding_not_implemented' : 'invalid_transfer_encoding')
}

/**
 * Returns whether the connection persists (RFC 9112 §9.3). It ends after a declined upgrade: the bytes after it may belong to
 * the other protocol, and parsers differ in whether they read them as requests.
 */
function isPersistent(head: RequestHead): boolean {
  const has = (name: string): boolean => lists(head, 'connection', name)
  return !has('close') && !has('upgrade') && (head.version === '1.1' || has('keep-alive'))
}

/** Says whether the request asks for a WebSocket. HTTP/1.0 has no upgrades (RFC 9110 §7.8). */
function isWebSocket(head: RequestHead): boolean {
  return head.version === '1.1' && lists(head, 'upgrade', 'websocket') && lists(head, 'connection', 'upgrade')
}

function lists({ fields }: RequestHead, name: string, value: string): boolean {
  const values = valuesOf(fields, name).join(',').toLowerCase().split(',')
  return values.some((one) => one.trim() === value)
}
