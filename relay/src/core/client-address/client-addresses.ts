// Finds the client address of a connection or request: its peer, or the client that a trusted proxy names. Bans, rate
// limits, logins, challenges and `client_ip` use it.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { CLIENT_HELLO_DEADLINE_MS } from '@svc/protocol'
import {
  PROXY_HEADER_MIN_BYTES,
  PROXY_SIGNATURE,
  type ProxyHeader,
  parseProxyHeader,
  proxyHeaderLength,
  type SocketAddress,
} from '@svc/protocol/proxy-protocol'
import { RelayError } from '../errors.ts'
import { parseForwarded } from './forwarded-header.ts'
import { normalizeIp } from './ip-address.ts'
import { readExactly } from './read-exactly.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** Size of a PROXY header with its TLVs, which have a few hundred bytes. nginx also allows one page of memory. */
const PROXY_HEADER_MAX_BYTES = 4096

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>

/** The two ends of a visitor's connection, normalized. */
export type VisitorAddresses = Pick<ProxyHeader, 'source' | 'destination'>
/** Those of a visitor whom the relay does not know. */
export const UNKNOWN_ADDRESSES: VisitorAddresses = { source: undefined, destination: undefined }
type Proxied = VisitorAddresses & { source: SocketAddress }

export class ClientAddresses {
  readonly #trusted: TrustedProxies
  /** What a PROXY header named, by address and port of the proxy's open connection. */
  readonly #proxied = new Map<string, Proxied>()

  /** Connections of overlay peers, by the same key: they come from a site or a client of a peer, never a proxy. */
  readonly #distrusted = new Set<string>()

  constructor(trusted: TrustedProxies) {
    this.#trusted = trusted
  }

  /** Treats a connection as a client's, even from the address of a trusted proxy. */
  distrust(socket: Socket): void {
    const key = keyOf(socket)
    this.#distrusted.add(key)
    socket.once('close', () => this.#distrusted.delete(key))
  }

  /**
   * Reads the PROXY header of a new connection from a trusted proxy, and no byte beyond it.
   * @param deadline for the header, in milliseconds of the monotonic clock
   * @returns false when the header is malformed or late; the connection is closed then
   */
  async admit(socket: Socket, deadline: number): Promise<boolean> {
    if (!this.#isProxy(socket)) return true
    try {
      const header = await readProxyHeader(socket, deadline)
      if (header?.source !== undefined) this.#remember(socket, { ...header, source: header.source })
      return true
    } catch {
      socket.destroy()
      return false
    }
  }

  /** The client address of a connection, normalized; undefined for a trusted proxy that named no client. */
  ofSocket(socket: Socket): string | undefined {
    const clientIp = this.ofConnection(socket)
    return this.standsForMany(clientIp) ? undefined : clientIp
  }

  /**
   * Both ends of a connection.
   * @param clientIp undefined for a trusted proxy that named no client. When another process or machine accepted the
   *   connection, the client's port is 0, which means that it is unknown
   */
  endsOf(socket: Socket, clientIp: string | undefined): VisitorAddresses {
    if (clientIp === undefined) return UNKNOWN_ADDRESSES
    const proxied = this.#proxied.get(keyOf(socket))
    if (proxied?.source.address === clientIp) return proxied
    const { remotePort = 0, localAddress = '', localPort = 0 } = socket
    return {
      source: { address: clientIp, port: addressOf(socket) === clientIp ? remotePort : 0 },
      destination: { address: normalizeIp(localAddress) ?? localAddress, port: localPort },
    }
  }

  /** Whether an address is a trusted proxy's, which has many clients. */
  standsForMany(clientIp: string): boolean {
    return this.#trusted.has(clientIp)
  }

  /**
   * The address that `request` comes from, normalized.
   * @throws RelayError `invalid_request` for a malformed `Forwarded`, since its sender must not be taken for its proxy
   */
  ofRequest(request: IncomingMessage): string {
    let clientIp = this.ofConnection(request.socket)
    const field = request.headersDistinct.forwarded?.join(',')
    if (field === undefined || !this.#trusted.has(clientIp) || this.#distrusted.has(keyOf(request.socket)))
      return clientIp
    const hops = parseForwarded(field)
    if (hops === undefined) throw new RelayError('invalid_request', 'the Forwarded header is malformed')
    // Each proxy appends the address that it got the request from. Elements before the first address that is not a
    // trusted proxy's are unverified.
    for (let hop = hops.pop(); hop !== undefined; hop = this.#trusted.has(hop) ? hops.pop() : undefined)
      clientIp = hop
    return clientIp
  }

  /** Whether a trusted proxy sent the request. */
  isFromProxy({ socket }: IncomingMessage): boolean {
    if (this.#distrusted.has(keyOf(socket))) return false
    return this.#trusted.has(this.ofConnection(socket)) || this.#isProxy(socket)
  }

  /** The peer's address, or the one that its PROXY header named; normalized. */
  ofConnection(socket: Peer): string {
    return this.#proxied.get(keyOf(socket))?.source.address ?? addressOf(socket)
  }

  #isProxy(socket: Peer): boolean {
    return this.#trusted.has(addressOf(socket)) && !this.#distrusted.has(keyOf(socket))
  }

  /** Keys the header by address and port of the peer, because a request has another socket object, the TLS one. */
  #remember(socket: Socket, header: Proxied): void {
    const key = keyOf(socket)
    this.#proxied.set(key, header)
    socket.once('close', () => this.#proxied.delete(key))
  }
}

/** @throws when the header is malformed, too large or too slow, or the connection ends */
async function readProxyHeader(socket: Socket, deadline: number): Promise<ProxyHeader | undefined> {
  let headerDeadline = deadline
  const remainingMs = () => headerDeadline - performance.now()
  const first = await readExactly(socket, 1, remainingMs())
  // TLS begins with 0x16: a proxy that speaks HTTP has TLS with the relay itself and sends `Forwarded`.
  if (first[0] !== PROXY_SIGNATURE[0]) {
    socket.unshift(first)
    return undefined
  }
  headerDeadline = Math.min(deadline, performance.now() + CLIENT_HELLO_DEADLINE_MS)
  const fixed = Buffer.concat([first, await readExactly(socket, PROXY_HEADER_MIN_BYTES - 1, remainingMs())])
  const length = proxyHeaderLength(fixed)
  if (PROXY_HEADER_MIN_BYTES + length > PROXY_HEADER_MAX_BYTES) throw new Error('PROXY header too large')
  return parseProxyHeader(Buffer.concat([fixed, await readExactly(socket, length, remainingMs())]))
}

function addressOf({ remoteAddress = '' }: Peer): string {
  return normalizeIp(remoteAddress) ?? remoteAddress
}

function keyOf({ remoteAddress, remotePort }: Peer): string {
  return `${remoteAddress} ${remotePort}`
}
