// Parses a header list into a request (RFC 9113 §8.3; RFC 8441 §4).

import { type Field, valuesOf } from '../semantics/fields.ts'
import { HttpError } from '../semantics/http-error.ts'
import {
  checkMethod,
  type ParsedRequest,
  parseContentLength,
  parseExpect,
} from '../semantics/parsed-request.ts'
import type { RequestHead } from '../semantics/request-head.ts'
import { requestUrl, type ServedAuthority } from '../semantics/request-target.ts'
import { Http2Error } from './errors.ts'
import type { HeaderList } from './header-list.ts'

const METHOD = /^[!#$%&'*+.^_`|~\w-]+$/
const PATH = /^\/[\x21-\x7e]*$/

export interface Http2Request extends ParsedRequest {
  /** The length of the body in octets, if the visitor declared it. END_STREAM also marks the end. */
  length: number | undefined
}

/**
 * Parses a request.
 * @param isEnd the request has no body
 * @throws Http2Error `malformed_request`, a stream error
 * @throws HttpError with the status that refuses the request
 */
export function parseHttp2Request(
  list: HeaderList,
  streamId: number,
  isEnd: boolean,
  site: ServedAuthority,
): Http2Request {
  if (list.isTooLarge) throw new HttpError('head_too_large')
  const target = list.isMalformed ? undefined : readTarget(list)
  if (!target) throw new Http2Error('malformed_request', streamId)
  const lengths = valuesOf(list.fields, 'content-length')
  const length = target.webSocket || lengths.length === 0 ? undefined : lengthOf(lengths, streamId)
  if (isEnd && length !== undefined && length > 0) throw new Http2Error('malformed_request', streamId)
  const { head, webSocket } = target
  checkMethod(head.method)
  return {
    head,
    url: requestUrl(head, site),
    length,
    expectsContinue: !isEnd && parseExpect(head),
    webSocket,
  }
}

/** Returns the body's length. A length that HTTP/1.1 answers with 400 makes the request malformed (§8.1.1). */
function lengthOf(lengths: string[], streamId: number): number {
  try {
    return parseContentLength(lengths)
  } catch (error) {
    if (error instanceof HttpError && error.status === 413) throw error
    throw new Http2Error('malformed_request', streamId)
  }
}

/**
 * Converts the request to the form of HTTP/1.1, which the shared code uses. Undefined when it is malformed.
 * @throws HttpError `method_not_implemented` for a CONNECT that is no WebSocket
 */
function readTarget({ pseudo, fields }: HeaderList): { head: RequestHead; webSocket: boolean } | undefined {
  const method = pseudo.get(':method')
  const scheme = pseudo.get(':scheme')
  const path = pseudo.get(':path')
  const protocol = pseudo.get(':protocol')
  const host = hostFields(pseudo.get(':authority'), fields)
  if (method === undefined || !METHOD.test(method) || !host) return undefined
  if (method === 'CONNECT' && protocol === undefined) {
    const isConnect = scheme === undefined && path === undefined && pseudo.has(':authority')
    if (isConnect) throw new HttpError('method_not_implemented')
    return undefined
  }
  if (protocol !== undefined && method !== 'CONNECT') return undefined
  if (!scheme || path === undefined || !isPath(path, method)) return undefined
  if (protocol !== undefined && protocol !== 'websocket') throw new HttpError('method_not_implemented')
  // A site behind TLS does not serve `http:` targets (RFC 9110 §7.4).
  if (scheme.toLowerCase() !== 'https') throw new HttpError('misdirected_request')
  const all = withJoinedCookies([...host, ...fields])
  if (protocol === undefined)
    return { head: { method, target: path, version: '1.1', fields: all }, webSocket: false }
  all.push(['upgrade', 'websocket'], ['connection', 'upgrade'])
  return { head: { method: 'GET', target: path, version: '1.1', fields: all }, webSocket: true }
}

/** Joins the Cookie fields: HTTP/2 may have many, other versions one (§8.2.3). */
function withJoinedCookies(fields: Field[]): Field[] {
  const cookies = valuesOf(fields, 'cookie')
  if (cookies.length < 2) return fields
  return [...fields.filter(([name]) => name !== 'cookie'), ['cookie', cookies.join('; ')]]
}

/** Makes a Host field from `:authority` (§8.3.1). If both exist, they must agree. */
function hostFields(authority: string | undefined, fields: readonly Field[]): Field[] | undefined {
  const hosts = valuesOf(fields, 'host')
  if (authority === undefined) return []
  if (hosts.length === 0) return [['host', authority]]
  return hosts.every((host) => host.toLowerCase() === authority.toLowerCase()) ? [] : undefined
}

function isPath(path: string, method: string): boolean {
  return PATH.test(path) || (path === '*' && method === 'OPTIONS')
}
