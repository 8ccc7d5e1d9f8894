// Reads where QUIC tunnels of a lease come in, when that is not the relay's authority.

import { SvcError } from '../errors.ts'

/** A TunnelAddress is the host and the port to which QUIC tunnels of a lease are opened. */
export interface TunnelAddress {
  /** A host name, or an IP address without brackets. */
  host: string
  /** From 1 to 65535. */
  port: number
}

const FIELD = 'udp_tunnel_addr'
/** It holds nothing that a URL would take for credentials, a path or a query. */
const HOST_AND_PORT = /^([\w.-]{1,253}|\[[\da-f:.]{2,45}\]):([1-9]\d{0,4})$/i
const PORT_MAX = 65_535

/**
 * Returns the address in the answer to a registration, undefined when there is none.
 * @throws SvcError `unexpected_answer` when it is not a host and a port
 */
export function parseTunnelAddress({ [FIELD]: value }: Record<string, unknown>): TunnelAddress | undefined {
  if (value === undefined) return undefined
  const [, host, port] = (typeof value === 'string' && HOST_AND_PORT.exec(value)) || []
  const hostname = host && hostnameOf(host)
  if (!hostname || Number(port) > PORT_MAX)
    throw new SvcError('unexpected_answer', `${FIELD} is not a host and a port`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** Undefined for an address that is none, and for numbers that a URL would take for another address. */
function hostnameOf(host: string): string | undefined {
  const hostname = URL.parse(`https://${host}`)?.hostname
  return host.startsWith('[') || hostname === host.toLowerCase() ? hostname : undefined
}
