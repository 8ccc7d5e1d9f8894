// Refuses requests that name another host than the handshake did, and those with a malformed or excessive head.

import { REQUEST_FIELDS_MAX } from '@svc/node-kit/http'
import type { VisitorRequest } from '../live-site/live-sites.ts'
import { authorityOf } from './request-path.ts'

export const BAD_REQUEST = 400
const MISDIRECTED_REQUEST = 421
const HEAD_TOO_LARGE = 431
/** A name with an optional port. */
const AUTHORITY = /^([^:@]{1,255})(?::(\d{0,5}))?$/

export interface Refusal {
  status: number
  message: string
}

/**
 * @param hostname the one that the visitor named in the handshake
 * @param ownPorts ports that the visitor may name with it: any other may be somebody else's
 * @returns undefined for a request that may be answered
 */
export function refusalOf(
  request: VisitorRequest,
  hostname: string,
  ownPorts: readonly number[],
): Refusal | undefined {
  const { rawHeaders } = request
  if (rawHeaders.length > 2 * REQUEST_FIELDS_MAX)
    return { status: HEAD_TOO_LARGE, message: `A request may have ${REQUEST_FIELDS_MAX} header fields.` }
  const names = namedHosts(request)
  if (names.length === 0 && request.httpVersion === '1.0') return undefined
  if (names.length === 0 || hostFields(rawHeaders) > 1)
    return { status: BAD_REQUEST, message: 'The request needs exactly one Host.' }
  for (const name of names)
    if (name !== hostname && !isOwn(name, hostname, ownPorts)) return misdirected(hostname)
  return undefined
}

/** RFC 9110 §15.5.20: the visitor may send the request over another connection. */
export function misdirected(hostname: string): Refusal {
  return {
    status: MISDIRECTED_REQUEST,
    message: `This connection is not for this host, or not any more (${hostname}).`,
  }
}

/** Returns every host that a request names: all must be the same. */
function namedHosts({ headers, url = '' }: VisitorRequest): string[] {
  const found: string[] = []
  for (const name of [authorityOf(url), headers[':authority'], headers.host])
    if (typeof name === 'string') found.push(name)
  return found
}

/** Node keeps only the first Host, and this server must not choose a different one than a proxy before it. */
function hostFields(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}

/** A name with a final dot is the same name. */
function isOwn(authority: string, hostname: string, ownPorts: readonly number[]): boolean {
  const [, name, port] = AUTHORITY.exec(authority) ?? []
  const isSame = name?.toLowerCase().replace(/\.$/, '') === hostname
  return isSame && (!port || ownPorts.includes(Number(port)))
}
