// Where a connection or request comes from: its peer, or whom a trusted proxy names in its place. Asked wherever a
// source counts: bans, budgets, login attempts, open challenges, `client_ip`.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { CLIENT_HELLO_DEADLINE_MS } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import { PROXY_HEADER_MAX_BYTES } from '../limits.ts'
import { parseForwarded } from './forwarded-header.ts'
import { normalizeIp } from './ip-address.ts'
import {
  PROXY_HEADER_MIN_BYTES,
  PROXY_SIGNATURE,
  proxyClientAddress,
  proxyHeaderLength,
} from './proxy-protocol.ts'
import { readExactly } from './read-exactly.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>

export class ClientAddresses {
  readonly #trusted: TrustedProxies
  /** Clients that a PROXY header named, by the peer that wrote it; of open connections only. */
  readonly #clients = new Map<string, string>()

  constructor(trusted: TrustedProxies) {
    this.#trusted = trusted
  }

  /**
   * Reads the PROXY header of a new connection, where a trusted proxy sends one, and no byte of what follows it.
   * @param until when that has to be done, in milliseconds of the monotonic clock
   * @returns whether the connection may go on; else it is closed
   */
  async admit(socket: Socket, deadline: number): Promise<boolean> {
    if (!this.#trusted.has(addressOf(socket))) return true
    try {
      const client = await readProxyHeader(socket, deadline)
      if (client !== undefined) this.#remember(socket, client)
      return true
    } catch {
      socket.destroy()
      return false
    }
  }

  /** Whom a connection stands for, normalized; undefined for a trusted proxy that did not say. */
  ofSocket(socket: Socket): string | undefined {
    const clientIp = this.ofConnection(socket)
    return this.standsForMany(clientIp) ? undefined : clientIp
  }

  /** Whether an address is a trusted proxy's, which brings many clients. */
  standsForMany(clientIp: string): boolean {
    return this.#trusted.has(clientIp)
  }

  /**
   * The address that `request` comes from, normalized.
   * @throws RelayError `invalid_request` for a malformed `Forwarded`: who sends one shall not pass for its proxy
   */
  ofRequest(request: IncomingMessage): string {
    let clientIp = this.ofConnection(request.socket)
    const field = request.headersDistinct.forwarded?.join(',')
    if (field === undefined || !this.#trusted.has(clientIp)) return clientIp
    const hops = parseForwarded(field)
    if (hops === undefined) throw new RelayError('invalid_request', 'the Forwarded header is malformed')
    // Each proxy adds at the end whom it got the request from. What stands before the first one that is not trusted
    // is hearsay.
    for (let hop = hops.pop(); hop !== undefined; hop = this.#trusted.has(hop) ? hops.pop() : undefined)
      clientIp = hop
    return clientIp
  }

  /** Whether a trusted proxy sent it. */
  isFromProxy({ socket }: IncomingMessage): boolean {
    return this.#trusted.has(this.ofConnection(socket)) || this.#trusted.has(addressOf(socket))
  }

  /** The peer's address, or the one that its PROXY header named; normalized. */
  ofConnection(socket: Peer): string {
    return this.#clients.get(keyOf(socket)) ?? addressOf(socket)
  }

  /** By address and port of the peer, because the socket that a request comes with is another object: the TLS one. */
  #remember(socket: Socket, client: string): void {
    const key = keyOf(socket)
    this.#clients.set(key, client)
    socket.once('close', () => this.#clients.delete(key))
  }
}

/** @throws when the header is malformed, too large or too slow, or the connection ends */
async function readProxyHeader(socket: Socket, deadline: number): Promise<string | undefined> {
  let headerDeadline = deadline
  const remainingMs = () => headerDeadline - performance.now()
  const first = await readExactly(socket, 1, remainingMs())
  // TLS begins with 0x16: a proxy that speaks HTTP has TLS with the relay itself, and says `Forwarded`.
  if (first[0] !== PROXY_SIGNATURE[0]) {
    socket.unshift(first)
    return undefined
  }
  headerDeadline = Math.min(deadline, performance.now() + CLIENT_HELLO_DEADLINE_MS)
  const fixed = Buffer.concat([first, await readExactly(socket, PROXY_HEADER_MIN_BYTES - 1, remainingMs())])
  const length = proxyHeaderLength(fixed)
  if (PROXY_HEADER_MIN_BYTES + length > PROXY_HEADER_MAX_BYTES) throw new Error('PROXY header too large')
  return proxyClientAddress(Buffer.concat([fixed, await readExactly(socket, length, remainingMs())]))
}

function addressOf({ remoteAddress = '' }: Peer): string {
  return normalizeIp(remoteAddress) ?? remoteAddress
}

function keyOf({ remoteAddress, remotePort }: Peer): string {
  return `${remoteAddress} ${remotePort}`
}
