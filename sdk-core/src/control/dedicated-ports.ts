// Reads the dedicated ports of a lease from a registration. A page requests none and does not load this code.

import { SvcError } from '../errors.ts'
import { requireText } from './json-checks.ts'

/** A TunnelAddress is the host and port to which the SDK opens the QUIC tunnels of a lease. */
export interface TunnelAddress {
  /** A host name, or an IP address without brackets. */
  host: string
  /** From 1 to 65535. */
  port: number
}

/** The dedicated ports that a site may request. */
export interface PortRequest {
  /** Requests a dedicated TCP port too. */
  tcp?: boolean | undefined
  /** Requests a dedicated UDP port too. */
  udp?: boolean | undefined
}

export interface DedicatedPorts {
  /** `host:port` of the dedicated TCP port, if requested. */
  tcpAddress?: string | undefined
  /** `host:port` of the dedicated UDP port, if requested. */
  udpAddress?: string | undefined
  /** The address for datagram tunnels of the lease, when that is not the relay's authority. */
  tunnelAddress?: TunnelAddress | undefined
}

const HOST_AND_PORT = /^[\w.:[\]-]{1,255}:\d{1,5}$/

const TUNNEL_FIELD = 'udp_tunnel_addr'
/** Matches nothing that a URL would read as credentials, a path or a query. */
const TUNNEL_ADDRESS = /^([\w.-]{1,253}|\[[\da-f:.]{2,45}\]):([1-9]\d{0,4})$/i
const PORT_MAX = 65_535

/**
 * Returns the ports in the answer to a registration.
 * @throws SvcError `unexpected_answer` when a requested one is missing, or is not a host and a port
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

/** Returns undefined for an invalid address, and for numbers that a URL would read as another address. */
function hostnameOf(host: string): string | undefined {
  const hostname = URL.parse(`https://${host}`)?.hostname
  return host.startsWith('[') || hostname === host.toLowerCase() ? hostname : undefined
}
