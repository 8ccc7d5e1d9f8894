// Whom a request is for (RFC 9110 §7.2, §7.4): the root host, named once. A page of another name must not reach the API by
// having its own name lead here.

import type { IncomingMessage } from 'node:http'
import type { ClientAddresses } from '../../client-address/client-addresses.ts'
import { RelayError } from '../../errors.ts'

const BAD_REQUEST = 400
const MISDIRECTED_REQUEST = 421
/** A name, and perhaps a port: any, because what stands before the relay may listen at another one than the relay. */
const AUTHORITY = /^([^:]{1,255})(?::\d{0,5})?$/

/**
 * HTTP/1.0 knows no Host, so there it may be missing. A trusted proxy may name the relay as it likes.
 * @throws RelayError `invalid_request`: 400 for a Host that is missing, doubled or malformed, 421 for that of another
 */
export function requireRootHost(
  request: IncomingMessage,
  rootHost: string,
  clientAddresses: ClientAddresses,
): void {
  const [host, ...more] = request.headersDistinct.host ?? []
  if (host === undefined && request.httpVersion === '1.0') return
  const name = host === undefined ? undefined : AUTHORITY.exec(host)?.[1]
  if (name === undefined || more.length > 0)
    throw new RelayError('invalid_request', 'exactly one Host is needed', {}, BAD_REQUEST)
  if (clientAddresses.isFromProxy(request)) return
  // A name with the dot of the root is the same name.
  if (name.toLowerCase().replace(/\.$/, '') !== rootHost)
    throw new RelayError('invalid_request', `this is ${rootHost}`, {}, MISDIRECTED_REQUEST)
}
