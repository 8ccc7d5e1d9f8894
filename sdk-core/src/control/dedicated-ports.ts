// Reads the dedicated ports of a lease from a registration. A page asks for none, and does not load this code.

import { SvcError } from '../errors.ts'
import { requireText } from './json-checks.ts'

/** A TunnelAddress is the host and the port to which QUIC tunnels of a lease are opened. */
export interface TunnelAddress {
  /** A host name, or an IP address without brackets. */
  host: string
  /** From 1 to 65535. */
  port: number
}

/** The ports that a site may ask a relay for. */
export interface PortRequest {
  /** Asks for a dedicated TCP port as well. */
  tcp?: boolean | undefined
  /** Asks for a dedicated UDP port as well. */
  udp?: boolean | undefined
}

export interface DedicatedPorts {
  /** `host:port` of the dedicated TCP port, when the site asked for one. */
  tcpAddress?: string | undefined
  /** `host:port` of the dedicated UDP port, when the site asked for one. */
  udpAddress?: string | undefined
  /** Where datagram tunnels of the lease come in, when that is not the relay's authority. */
  tunnelAddress?: TunnelAddress | undefined
}

const HOST_AND_PORT = /^[\w.:[\]-]{1,255}:\d{1,5}$/

const TUNNEL_FIELD = 'udp_tunnel_addr'
/** It holds nothing that a URL would take for credentials, a path or a query. */
const TUNNEL_ADDRESS = /^([\w.-]{1,253}|\[[\da-f:.]{2,45}\]):([1-9]\d{0,4})$/i
const PORT_MAX = 65_535

/**
 * Returns the ports in the answer to a registration.
 * @throws SvcError `unexpected_answer` when one that the site asked for is missing, or is not a host and a port
 */
export function parseDedicatedPorts(
  { tcp, udp }: PortRequest,
  data: Record<string, unknown>,
): DedicatedPorts {
  return {
    tcpAddress: tcp ? requireText(data, 'tcp_addr', HOST_AND_PORT) : undefined,
    udpAddress: udp ? requireText(data, 'udp_addr', HOST_AND_PORT) : undefined,
    tunnelAddress: udp ? parseTunnelAddress(data) : undefined,
  }
}

function parseTunnelAddress({ [TUNNEL_FIELD]: value }: Record<string, unknown>): TunnelAddress | undefined {
  if (value === undefined) return undefined
  const [, host, port] = (typeof value === 'string' && TUNNEL_ADDRESS.exec(value)) || []
  const hostname = host && hostnameOf(host)
  if (!hostname || Number(port) > PORT_MAX)
    throw new SvcError('unexpected_answer', `${TUNNEL_FIELD} is not a host and a port`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** Undefined for an invalid address, and for numbers that a URL would take for another address. */
function hostnameOf(host: string): string | undefined {
  const hostname = URL.parse(`https://${host}`)?.hostname
  return host.startsWith('[') || hostname === host.toLowerCase() ? hostname : undefined
}
