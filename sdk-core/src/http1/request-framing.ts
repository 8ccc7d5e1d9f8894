// Frames an HTTP/1.1 request: the length of its body, and whether the connection persists (RFC 9112 §6.3, §9.3).

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

/** An Http1Request has what a request says of framing in HTTP/1.1. */
export interface Http1Request extends ParsedRequest {
  /** The number of octets of the body, or `chunked` when the body marks its own end. */
  length: number | 'chunked'
  /** True when the visitor wants to go on after the response. */
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

/** Returns the body's length (RFC 9112 §6.3). It refuses everything that two parsers could read in two ways (§11.2). */
function bodyLength(head: RequestHead): number | 'chunked' {
  const codings = valuesOf(head.fields, 'transfer-encoding')
  const lengths = valuesOf(head.fields, 'content-length')
  if (codings.length === 0) return lengths.length === 0 ? 0 : parseContentLength(lengths)
  if (lengths.length > 0) throw new HttpError('ambiguous_length')
  const coding = codings.join(',').toLowerCase()
  // HTTP/1.0 has no transfer codings: a request that has one is framed wrongly (RFC 9112 §6.1).
  if (coding === 'chunked' && head.version === '1.1') return 'chunked'
  const isOther = /^[a-z]+, ?chunked$/.test(coding) && head.version === '1.1'
  throw new HttpError(isOther ? 'transfer_coding_not_implemented' : 'invalid_transfer_encoding')
}

/**
 * Says whether the connection persists (RFC 9112 §9.3). It ends after a declined upgrade: the bytes after it may be of
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
