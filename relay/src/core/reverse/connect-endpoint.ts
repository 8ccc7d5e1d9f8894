// Serves `GET /sdk/connect`: checks the capability, then makes the connection a carrier, or one native session.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  HEADER,
  RAW_UPGRADE,
  READY_SESSIONS_MAX,
  SUBPROTOCOL,
  type TokenClaims,
  WEBSOCKET_MESSAGE_MAX_BYTES,
  YAMUX_UPGRADE,
} from '@svc/protocol'
import { WebSocketServer } from 'ws'
import type { LeaseAuthorizer } from '../auth/lease-authorizer.ts'
import type { ClientAddresses } from '../client-address/client-addresses.ts'
import { RelayError } from '../errors.ts'
import type { Lease } from '../lease/lease.ts'
import type { RelayCounters } from '../metrics/relay-counters.ts'
import type { SharedReadBuffer } from '../node-internals/shared-read-buffer.ts'
import type { PolicyRules } from '../policy/policy-rules.ts'
import { type Carrier, type CarrierConnection, serveCarrier } from './carrier.ts'
import { nativeConnection } from './native-connection.ts'
import { serveNativeSession } from './native-session.ts'
import { readyQueueOf } from './ready-queues.ts'
import { SessionMemories } from './session-memory.ts'
import { onceClosed } from './site-presence.ts'
import type { LeaseOf } from './stream-authorization.ts'
import { UnderlyingSockets } from './tls-underlying-socket.ts'
import { webSocketConnection } from './websocket-connection.ts'

/** Carriers of one lease, over WebSockets and natively. One is enough, and a few overlap while a client reconnects or spreads its load. */
const CARRIERS_PER_LEASE_MAX = 8
/**
 * Fragments of one WebSocket message, and chunks in which it arrives. Each costs some 200 bytes beside its content. A
 * message of 1 MiB in TLS records of one packet each has 750.
 */
const WEBSOCKET_FRAGMENTS_MAX = 4096

/** A request with a delegated capability, not yet checked. */
export interface CarriedRequest {
  request: IncomingMessage
  /** The protocol to which the client asks to change, in lower case. */
  protocol: string
  capability: string
  /** Normalized address of the client. */
  clientIp: string
  /** The client's connection, and the TCP connection under it, if known. */
  socket: Duplex
  tcp: Socket | undefined
}

/** Carries reverse sessions of other relays' leases. */
export interface ReverseGateway {
  /** Whether the capability claims to be for a gateway. Nothing is verified. */
  isDelegated(capability: string): boolean
  /** @throws RelayError when the request is refused, before anything is written */
  carry(request: CarriedRequest): Promise<void>
}

/** The way in which a request came, and the check of its capability. */
interface Arrival {
  /** The connection of the carrier: over TLS, or of a gateway. */
  socket: Duplex
  /** The TCP connection under it, if it is known. */
  tcp: Socket | undefined
  /** Normalized address of the client; undefined when it stands for many clients. */
  clientIp: string | undefined
  capability: string
  leaseOf: LeaseOf
  /** Whether a gateway forwarded it; then its end says nothing about the site. */
  isCarried: boolean
}

export class ConnectEndpoint {
  readonly #credentials: LeaseAuthorizer
  readonly #policy: PolicyRules
  readonly #counters: RelayCounters
  readonly #clientAddresses: Pick<ClientAddresses, 'standsForMany'>
  readonly #memories: SessionMemories
  readonly #readBuffer: SharedReadBuffer | undefined
  readonly #open = new WeakMap<Lease, Set<Carrier>>()
  readonly #tcpSockets = new UnderlyingSockets()
  readonly #gateway: ReverseGateway | undefined
  #onCarrier: ((lease: Lease) => void) | undefined
  readonly #sockets: WebSocketServer = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: WEBSOCKET_MESSAGE_MAX_BYTES,
    maxFragments: WEBSOCKET_FRAGMENTS_MAX,
    maxBufferedChunks: WEBSOCKET_FRAGMENTS_MAX,
    handleProtocols: () => SUBPROTOCOL,
  })

  /**
   * @param readBuffer makes native carriers cheaper to read
   * @param gateway forwards sessions of other relays' leases to those relays; undefined when this relay is not a
   *   gateway
   */
  constructor(
    credentials: LeaseAuthorizer,
    policy: PolicyRules,
    counters: RelayCounters,
    clientAddresses: Pick<ClientAddresses, 'standsForMany'>,
    readBuffer: SharedReadBuffer | undefined,
    gateway?: ReverseGateway,
  ) {
    this.#gateway = gateway
    this.#readBuffer = readBuffer
    this.#credentials = credentials
    this.#policy = policy
    this.#counters = counters
    this.#sockets.on('error', () => {})
    this.#clientAddresses = clientAddresses
    this.#memories = new SessionMemories((bound) => counters.memoryRelieved.add({ bound }))
    // ws emits this within `handleUpgrade`, before it writes, and would respond without the error envelope.
    this.#sockets.on('wsClientError', ({ message }) => {
      throw new RelayError('invalid_request', message, { 'Sec-WebSocket-Version': '13' })
    })
  }

  /** @param listener called with the lease of each new carrier */
  onCarrier(listener: (lease: Lease) => void): void {
    this.#onCarrier = listener
  }

  /** Closes the carriers of the lease that do not answer. */
  probeCarriers(lease: Lease): void {
    for (const carrier of this.#open.get(lease) ?? []) carrier.probe()
  }

  /** Closes the carriers of the lease, so that its clients connect to another process. */
  closeCarriers(lease: Lease): void {
    for (const carrier of this.#open.get(lease) ?? []) carrier.closeForRestart()
  }

  /**
   * Ends the ready sessions of the lease, so that its clients open others at another machine. Connected visitors stay.
   * @returns whether its clients have connections here
   */
  leave(lease: Lease): boolean {
    const carriers = this.#open.get(lease) ?? []
    for (const carrier of carriers) carrier.leave()
    readyQueueOf(lease).leave()
    return [...carriers].length > 0
  }

  /** Remembers the TCP connection under a TLS connection about to be made. */
  onTcpConnection(socket: Socket): void {
    this.#tcpSockets.add(socket)
  }

  /** Returns the TCP connection under a TLS connection to the API, if it is known. */
  underlyingSocketOf(connection: Socket): Socket | undefined {
    return this.#tcpSockets.beneath(connection)
  }

  /**
   * Upgrades a request to a carrier, over a WebSocket or natively, or to one native session. A request with a delegated
   * capability goes on to the relay of its lease.
   * @param clientIp normalized address of the client
   * @param head bytes that arrived after the request
   * @throws RelayError when the relay refuses the request, before anything is written
   */
  upgrade(request: IncomingMessage, clientIp: string, socket: Duplex, head: Buffer): void | Promise<void> {
    requireHttp11(request)
    if (this.#policy.isAnyIpBanned(clientIp)) throw new RelayError('ip_banned', 'this address is banned here')
    const protocol = protocolOf(request)
    const capability = capabilityIn(request, protocol)
    const tcp = this.#tcpSockets.beneath(request.socket)
    if (this.#gateway?.isDelegated(capability)) {
      requireNothingBehind(head)
      return this.#gateway.carry({ request, protocol, capability, clientIp, socket, tcp })
    }
    this.#accept(request, protocol, head, {
      socket,
      tcp,
      clientIp: this.#clientAddresses.standsForMany(clientIp) ? undefined : clientIp,
      capability,
      leaseOf: (capability) => this.#credentials.leaseOf(capability, 'reverse'),
      isCarried: false,
    })
  }

  /**
   * Upgrades a request that a gateway forwarded.
   * @param check throws to refuse the claims of a delegated capability
   * @throws RelayError as {@link upgrade} does
   */
  upgradeCarried(
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
    check: (lease: Lease, claims: TokenClaims) => void,
  ): void {
    const protocol = protocolOf(request)
    this.#accept(request, protocol, head, {
      socket,
      tcp: socket,
      // A gateway brings many clients.
      clientIp: undefined,
      capability: capabilityIn(request, protocol),
      leaseOf: (capability) => {
        const { lease, claims } = this.#credentials.proofOf(capability, 'delegated')
        check(lease, claims)
        return lease
      },
      isCarried: true,
    })
  }

  #accept(request: IncomingMessage, protocol: string, head: Buffer, by: Arrival): void {
    const lease = by.leaseOf(by.capability)
    if (this.#policy.blocks(lease))
      throw new RelayError('lease_rejected', 'the lease is not allowed to route')
    if (protocol === RAW_UPGRADE) {
      this.#openSession(lease, head, by)
      return
    }
    if (protocol === YAMUX_UPGRADE) requireNothingBehind(head)
    this.#requireRoomForCarrier(lease)
    const { socket } = by
    if (protocol === YAMUX_UPGRADE) this.#serve(nativeConnection(socket, this.#readBuffer), lease, by)
    else
      this.#sockets.handleUpgrade(request, socket, head, (ws) =>
        this.#serve(webSocketConnection(ws, socket), lease, by),
      )
  }

  #openSession(lease: Lease, head: Buffer, by: Arrival): void {
    requireNothingBehind(head)
    const { roomInMs, hasRoom } = readyQueueOf(lease)
    if (roomInMs > 0) throw tooMany('sessions of this lease end before they answer a visitor', roomInMs)
    if (!hasRoom) throw tooMany(`${READY_SESSIONS_MAX} sessions are ready for this lease`)
    this.#count(lease, by)
    serveNativeSession(by.socket, lease, by.tcp)
  }

  #requireRoomForCarrier(lease: Lease): void {
    const open = this.#open.get(lease)?.size ?? 0
    if (open >= CARRIERS_PER_LEASE_MAX) throw tooMany(`${open} carriers are open for this lease`)
  }

  #serve(connection: CarrierConnection, lease: Lease, by: Arrival): void {
    const { socket, clientIp, leaseOf } = by
    const carriers = this.#open.get(lease) ?? new Set()
    this.#open.set(lease, carriers)
    // A client often reconnects because its last carrier died, which the relay has not noticed yet.
    this.probeCarriers(lease)
    this.#onCarrier?.(lease)
    const carrier = serveCarrier({
      connection,
      lease,
      clientIp,
      leaseOf,
      memories: this.#memories,
    })
    carriers.add(carrier)
    this.#count(lease, by)
    socket.once('close', () => carriers.delete(carrier))
  }

  #count(lease: Lease, { socket, isCarried }: Arrival): void {
    this.#counters.carriers += 1
    const ready = readyQueueOf(lease)
    ready.setConnection(socket, 'open')
    onceClosed(socket, (how) => {
      this.#counters.carriers -= 1
      ready.setConnection(socket, isCarried ? 'none' : how)
    })
  }
}

/** @throws RelayError `http11_only` for another version, which cannot be upgraded */
export function requireHttp11(request: IncomingMessage): void {
  if (request.httpVersion !== '1.1') throw new RelayError('http11_only', 'HTTP/1.1 is needed')
}

/** Returns the error for a request without a capability, with or without an upgrade. */
export function noCapability(): RelayError {
  const native = `in the header ${HEADER.reverseCapability}`
  const browser = `with a WebSocket's subprotocols behind ${SUBPROTOCOL}`
  return new RelayError('unauthorized', `a capability is needed, ${native} or ${browser}`)
}

/**
 * Returns the protocol to which the connection changes. A native client may leave the upgrade headers out.
 * @throws RelayError for another protocol
 */
function protocolOf(request: IncomingMessage): string {
  const protocol = request.headers.upgrade?.toLowerCase() ?? RAW_UPGRADE
  if (protocol === 'websocket' || protocol === YAMUX_UPGRADE || protocol === RAW_UPGRADE) return protocol
  throw unknownProtocol(request)
}

function capabilityIn(request: IncomingMessage, protocol: string): string {
  return protocol === 'websocket' ? offeredCapability(request) : nativeCapability(request)
}

/** The client must offer exactly the subprotocol and one capability. */
function offeredCapability(request: IncomingMessage): string {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((value) => value.trim())
  const [subprotocol, capability] = offered
  const isAlone = capability === undefined && (subprotocol === '' || subprotocol === SUBPROTOCOL)
  if (isAlone || capability === '') throw noCapability()
  if (offered.length !== 2 || subprotocol !== SUBPROTOCOL || capability === undefined)
    throw new RelayError('invalid_request', `the subprotocols ${SUBPROTOCOL} and one capability are needed`)
  return capability
}

function nativeCapability(request: IncomingMessage): string {
  const capability = request.headers[HEADER.reverseCapability.toLowerCase()]
  if (typeof capability !== 'string') throw noCapability()
  return capability
}

function unknownProtocol(request: IncomingMessage): RelayError {
  nativeCapability(request)
  const known = `${RAW_UPGRADE}, ${YAMUX_UPGRADE} or websocket`
  return new RelayError('invalid_request', `a reverse session is an upgrade to ${known}`)
}

function requireNothingBehind(head: Buffer): void {
  if (head.length > 0) throw new RelayError('invalid_request', 'nothing may follow the request yet')
}

function tooMany(message: string, waitMs = 1000): RelayError {
  return new RelayError('rate_limited', message, { 'Retry-After': `${Math.ceil(waitMs / 1000)}` })
}
