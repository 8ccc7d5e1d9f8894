// Requires that a request names the root host exactly once (RFC 9110 §7.2, §7.4), so that a page of another hostname
// cannot reach the API by pointing its DNS at the relay (DNS rebinding), nor can a server at another port of the root
// host by forwarding requests.

import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { ClientAddresses } from '../../client-address/client-addresses.ts'
import { RelayError } from '../../errors.ts'

const BAD_REQUEST = 400
const MISDIRECTED_REQUEST = 421
/** A name or an address, with an optional port. */
const AUTHORITY = /^([^:]{1,255}|\[[\da-f:.]{2,45}\])(?::(\d{0,5}))?$/i

/** The relay's own host and ports. */
export interface OwnAuthority {
  /** The hostname that requests must name. */
  rootHost: string
  /** The ports that requests may name: that of the relay's URL, and that of its listener. */
  ownPorts: readonly number[]
}

/**
 * HTTP/1.0 has no Host, so that it may be missing there. A trusted proxy may send any Host. A Host without a port means
 * the port of the relay's URL.
 * @throws RelayError `invalid_request`: 400 for a missing, repeated or malformed Host, 421 for another host
 */
export function requireRootHost(
  request: IncomingMessage,
  { rootHost, ownPorts }: OwnAuthority,
  clientAddresses: ClientAddresses,
): void {
  const [host, ...more] = request.headersDistinct.host ?? []
  if (host === undefined && request.httpVersion === '1.0') return
  const [, name, namedPort] = AUTHORITY.exec(host ?? '') ?? []
  if (name === undefined || more.length > 0)
    throw new RelayError('invalid_request', 'the request needs exactly one Host', {}, BAD_REQUEST)
  if (clientAddresses.isFromProxy(request)) return
  // A trailing dot does not change the name.
  if (name.toLowerCase().replace(/\.$/, '') !== rootHost || !isOwnPort(namedPort, ownPorts))
    throw new RelayError('invalid_request', `this relay is ${rootHost}`, {}, MISDIRECTED_REQUEST)
}

/**
 * Whether a request names an address of the machine, as health checks do. DNS rebinding cannot make a browser send such
 * a Host.
 */
export function namesAddress({ headersDistinct: { host = [] } }: IncomingMessage): boolean {
  const [, name = ''] = AUTHORITY.exec(host[0] ?? '') ?? []
  return host.length === 1 && isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

/** Whether a Host names one of these ports, or none, which means that of the URL. */
function isOwnPort(named: string | undefined, ownPorts: readonly number[]): boolean {
  return named === undefined || named === '' || ownPorts.includes(Number(named))
}
