// Translates requests for a live site and its responses from connection to connection (RFC 9110 §7.6).

import type { IncomingMessage } from 'node:http'
import { isClaimedField } from '@svc/protocol'
import type { Lease } from '../../../core/lease/lease.ts'
import type { VisitorRequest } from './live-sites.ts'

/** Alternating names and values, as they arrived. */
export type RawFields = readonly string[]

/** Fields of one connection only (RFC 9110 §7.6.1), and those that a client sends to a proxy. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  // HTTP/2 has none of these, and Node throws when it is told to write one, `http2-settings` included.
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])
/** Fields that a trailer section must not have, since they frame, route or authenticate a message (RFC 9110 §6.5.1). */
const NEVER_IN_TRAILERS: ReadonlySet<string> = new Set([
  'authorization',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'host',
  'max-forwards',
  'range',
  'set-cookie',
  'trailer',
  'via',
])

/**
 * Fields that a response has only once; of two, Node's client takes the first, and its HTTP/2 refuses a list of values.
 */
const SINGLE_VALUES: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-max-age',
  'age',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'retry-after',
  'tk',
  'x-content-type-options',
])
/** Statuses whose responses have no body (RFC 9110 §15.3.5 and §15.4.5). */
const BODILESS: ReadonlySet<number> = new Set([204, 304])

/** A request that cannot be passed on as it is. */
export class UnfitRequest extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A request as it goes to the site. */
export interface SiteRequest {
  method: string
  /** In origin form, or `*`. */
  path: string
  fields: string[]
  hasBody: boolean
  /** Bytes of the body; undefined for a chunked one. */
  length: number | undefined
}

/** @throws UnfitRequest */
export function siteRequestOf(request: VisitorRequest, lease: Lease): SiteRequest {
  const { method = 'GET', headers } = request
  if (method === 'CONNECT') throw new UnfitRequest(501, 'This site is no proxy.')
  const relay = lease.canonicalHostname.slice(lease.canonicalHostname.indexOf('.') + 1)
  if (namesRelay(headers.via, relay)) throw new UnfitRequest(508, 'The request came back to where it was.')
  const { fields: framing, hasBody, length } = framingOf(request)
  const isChunked = hasBody && length === undefined
  const fields = endToEnd(
    request.rawHeaders,
    // Node refuses `Trailer` on a message that cannot have trailers.
    (name) => isClaimedField(name) || name === 'content-length' || (name === 'trailer' && !isChunked),
  )
  const version = request.httpVersionMajor === 2 ? '2' : request.httpVersion
  const via = ['Via', `${version} ${relay}`]
  return {
    method,
    path: pathOf(request, lease),
    fields: ['Host', hostOf(request, lease), ...joinCookies(fields), ...framing, ...via],
    hasBody,
    length,
  }
}

/** Fields of a response, or of a request to change the protocol, without those of the connection. */
export function endToEnd(raw: RawFields, isDropped: (name: string) => boolean = () => false): string[] {
  const listed = new Set<string>()
  for (const [name, value] of pairs(raw))
    if (name.toLowerCase() === 'connection')
      for (const option of value.split(',')) listed.add(option.trim().toLowerCase())
  const kept: string[] = []
  for (const [field, value] of pairs(raw)) {
    const name = field.toLowerCase()
    if (name.startsWith(':') || name === 'host' || HOP_BY_HOP.has(name) || listed.has(name)) continue
    if (!isDropped(name)) kept.push(field, value)
  }
  return kept
}

/** Fields of a site's response for a visitor, with those that frame the body there. */
export function responseFields(answer: IncomingMessage, request: VisitorRequest): string[] {
  const { statusCode = 0, headers, rawHeaders } = answer
  // RFC 9110 §8.6 and RFC 9112 §6.2: here a length has no meaning.
  const isLengthVoid = statusCode === 204 || headers['transfer-encoding'] !== undefined
  const isBodiless = BODILESS.has(statusCode) || request.method === 'HEAD'
  const hasLength = !isLengthVoid && headers['content-length'] !== undefined
  const canHaveTrailers = !isBodiless && !hasLength && request.httpVersion !== '1.0'
  return endToEnd(
    rawHeaders,
    (name) => (name === 'trailer' && !canHaveTrailers) || (name === 'content-length' && isLengthVoid),
  )
}

/** Fields of a trailer section that may be passed on. */
export function endToEndTrailers(raw: RawFields): string[] {
  return endToEnd(raw, (name) => NEVER_IN_TRAILERS.has(name) || isClaimedField(name))
}

/** The same fields for HTTP/2, which has lower-case names, each once, and `Set-Cookie` as often as it came. */
export function http2Fields(raw: RawFields): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null)
  for (const [field, value] of pairs(raw)) {
    const name = field.toLowerCase()
    const before = fields[name]
    if (name === 'set-cookie') fields[name] = [...(Array.isArray(before) ? before : []), value]
    else if (typeof before !== 'string') fields[name] = value
    else if (!SINGLE_VALUES.has(name)) fields[name] = `${before}, ${value}`
  }
  return fields
}

export function* pairs(raw: RawFields): Iterable<[string, string]> {
  for (let at = 0; at + 1 < raw.length; at += 2) yield [raw[at]!, raw[at + 1]!]
}

/** Returns the framing of the body for the site, whatever framed it before. */
function framingOf(request: VisitorRequest): Pick<SiteRequest, 'fields' | 'hasBody' | 'length'> {
  const { headers } = request
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    throw new UnfitRequest(501, 'The only transfer coding that is known here is chunked.')
  const declared = headers['content-length']
  if (coding !== undefined && declared !== undefined) throw new UnfitRequest(400, 'The length is ambiguous.')
  if (declared !== undefined) {
    const length = /^\d{1,15}$/.test(declared) ? Number(declared) : Number.NaN
    if (Number.isNaN(length)) throw new UnfitRequest(400, 'Content-Length is not a number of bytes.')
    return { fields: ['Content-Length', `${length}`], hasBody: length > 0, length }
  }
  const isChunked = coding !== undefined || ('stream' in request && !request.stream.endAfterHeaders)
  return isChunked
    ? { fields: ['Transfer-Encoding', 'chunked'], hasBody: true, length: undefined }
    : { fields: isBodyExpected(request.method) ? ['Content-Length', '0'] : [], hasBody: false, length: 0 }
}

/** RFC 9110 §8.6: a request with such a method states its length even without a body. */
function isBodyExpected(method: string | undefined): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH'
}

/** RFC 9112 §3.2.2: a target in absolute form names the host, too. */
function pathOf({ url = '/', method }: VisitorRequest, lease: Lease): string {
  if (url.startsWith('/') || (url === '*' && method === 'OPTIONS')) return url
  const [, authority, path] = /^https?:\/\/([^/?#]*)([^#]*)/i.exec(url) ?? []
  if (authority === undefined || path === undefined) throw new UnfitRequest(400, 'The target is malformed.')
  if (authority.replace(/\.?(?::\d{1,5})?$/, '').toLowerCase() !== lease.canonicalHostname)
    throw new UnfitRequest(421, 'The target names another host.')
  return path.startsWith('/') ? path : `/${path}`
}

/** The canonical hostname, with the port that the visitor named. */
function hostOf({ headers }: VisitorRequest, { canonicalHostname }: Lease): string {
  const named = (headers[':authority'] as string | undefined) ?? headers.host ?? ''
  return `${canonicalHostname}${/:\d{1,5}$/.exec(named)?.[0] ?? ''}`
}

/** RFC 9110 §7.6.3: each gateway adds itself. */
function namesRelay(via: string | string[] | undefined, relay: string): boolean {
  return [via ?? ''].flat().some((line) => line.split(',').some((hop) => hop.trim().split(' ')[1] === relay))
}

/** RFC 9113 §8.2.3: HTTP/2 may split one field, which HTTP/1.1 has once. */
function joinCookies(fields: readonly string[]): string[] {
  const cookies: string[] = []
  const others: string[] = []
  for (const [name, value] of pairs(fields))
    if (name.toLowerCase() === 'cookie') cookies.push(value)
    else others.push(name, value)
  return cookies.length === 0 ? others : [...others, 'Cookie', cookies.join('; ')]
}

/** Returns whether a request is idempotent (RFC 9110 §9.2.2) and can be sent again. */
export function isRepeatable({ method, hasBody }: SiteRequest): boolean {
  return !hasBody && ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'].includes(method)
}

/** Returns whether a request asks for an upgrade to a WebSocket (RFC 6455 §4.1). */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.trim().toLowerCase() === 'websocket'
}
