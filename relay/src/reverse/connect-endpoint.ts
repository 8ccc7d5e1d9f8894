// Serves `GET /sdk/connect`: checks the capability, then makes the connection a WebSocket carrier or a native session.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  HEADER,
  RAW_UPGRADE,
  READY_SESSIONS_MAX,
  SUBPROTOCOL,
  WEBSOCKET_MESSAGE_MAX_BYTES,
} from '@svc/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import type { LeaseAuthorizer } from '../auth/lease-authorizer.ts'
import type { ClientAddresses } from '../client-address/client-addresses.ts'
import { RelayError } from '../errors.ts'
import type { Lease } from '../lease/lease.ts'
import { CARRIERS_PER_LEASE_MAX, WEBSOCKET_FRAGMENTS_MAX } from '../limits.ts'
import type { RelayCounters } from '../metrics/relay-counters.ts'
import type { PolicyRules } from '../policy/policy-rules.ts'
import { serveNativeSession } from './native-session.ts'
import { readyQueueOf } from './ready-queues.ts'
import { SessionMemories } from './session-memory.ts'
import { UnderlyingSockets } from './tls-underlying-socket.ts'
import { serveWebSocketCarrier, type WebSocketCarrier } from './websocket-carrier.ts'

export class ConnectEndpoint {
  readonly #credentials: LeaseAuthorizer
  readonly #policy: PolicyRules
  readonly #counters: RelayCounters
  readonly #clientAddresses: Pick<ClientAddresses, 'standsForMany'>
  readonly #memories: SessionMemories
  readonly #open = new WeakMap<Lease, Set<WebSocketCarrier>>()
  readonly #tcpSockets = new UnderlyingSockets()
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

  constructor(
    credentials: LeaseAuthorizer,
    policy: PolicyRules,
    counters: RelayCounters,
    clientAddresses: Pick<ClientAddresses, 'standsForMany'>,
  ) {
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

  /** @param listener called with the lease of each new WebSocket */
  onCarrier(listener: (lease: Lease) => void): void {
    this.#onCarrier = listener
  }

  /** Closes the WebSockets of the lease that do not answer. */
  probeCarriers(lease: Lease): void {
    for (const carrier of this.#open.get(lease) ?? []) carrier.probe()
  }

  /** Closes the WebSockets of the lease, so that its pages connect to another process. */
  closeCarriers(lease: Lease): void {
    for (const carrier of this.#open.get(lease) ?? []) carrier.closeForRestart()
  }

  /** Remembers the TCP connection under a TLS connection to come. */
  onTcpConnection(socket: Socket): void {
    this.#tcpSockets.add(socket)
  }

  /** Returns the TCP connection under a TLS connection to the API, if it is known. */
  underlyingSocketOf(connection: Socket): Socket | undefined {
    return this.#tcpSockets.beneath(connection)
  }

  /**
   * Upgrades a request to a WebSocket carrier or a native session.
   * @param clientIp normalized address of the client
   * @param head bytes that arrived after the request
   * @throws RelayError when the relay refuses the request; nothing was written then
   */
  upgrade(request: IncomingMessage, clientIp: string, socket: Duplex, head: Buffer): void {
    requireHttp11(request)
    if (this.#policy.isAnyIpBanned(clientIp)) throw new RelayError('ip_banned', 'this address is banned here')
    if (request.headers.upgrade?.toLowerCase() === 'websocket')
      this.#openCarrier(request, clientIp, socket, head)
    else this.#openSession(request, socket, head)
  }

  #openCarrier(request: IncomingMessage, clientIp: string, socket: Duplex, head: Buffer): void {
    const lease = this.#leaseOf(offeredCapability(request))
    const open = this.#open.get(lease)?.size ?? 0
    if (open >= CARRIERS_PER_LEASE_MAX) throw tooMany(`${open} WebSockets are open for this lease`)
    this.#sockets.handleUpgrade(request, socket, head, (ws) => this.#serve(ws, socket, lease, clientIp))
  }

  #openSession(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const lease = this.#leaseOf(nativeCapability(request))
    if (head.length > 0) throw new RelayError('invalid_request', 'nothing may follow the request yet')
    const { roomInMs, hasRoom } = readyQueueOf(lease)
    if (roomInMs > 0) throw tooMany('sessions of this lease end before they answer a visitor', roomInMs)
    if (!hasRoom) throw tooMany(`${READY_SESSIONS_MAX} sessions are ready for this lease`)
    this.#count(socket)
    serveNativeSession(socket, lease, this.#tcpSockets.beneath(request.socket))
  }

  #leaseOf(capability: string): Lease {
    const lease = this.#credentials.leaseOf(capability, 'reverse')
    if (this.#policy.blocks(lease))
      throw new RelayError('lease_rejected', 'the lease is not allowed to route')
    return lease
  }

  #serve(ws: WebSocket, connection: Duplex, lease: Lease, clientIp: string): void {
    const carriers = this.#open.get(lease) ?? new Set()
    this.#open.set(lease, carriers)
    // A page often reconnects because its last WebSocket died, which the relay has not noticed yet.
    this.probeCarriers(lease)
    this.#onCarrier?.(lease)
    const carrier = serveWebSocketCarrier({
      socket: ws,
      connection,
      lease,
      clientIp: this.#clientAddresses.standsForMany(clientIp) ? undefined : clientIp,
      credentials: this.#credentials,
      memories: this.#memories,
    })
    carriers.add(carrier)
    this.#count(ws)
    ws.on('close', () => carriers.delete(carrier))
  }

  #count(carrier: WebSocket | Duplex): void {
    this.#counters.carriers += 1
    carrier.once('close', () => {
      this.#counters.carriers -= 1
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

/** The client offers exactly the subprotocol and one capability. */
function offeredCapability(request: IncomingMessage): string {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((value) => value.trim())
  const [subprotocol, capability] = offered
  const isAlone = capability === undefined && (subprotocol === '' || subprotocol === SUBPROTOCOL)
  if (isAlone || capability === '') throw noCapability()
  if (offered.length !== 2 || subprotocol !== SUBPROTOCOL || capability === undefined)
    throw new RelayError('invalid_request', `the subprotocols ${SUBPROTOCOL} and one capability are needed`)
  return capability
}

/** A native client may leave the upgrade headers out, but not ask for another protocol. */
function nativeCapability(request: IncomingMessage): string {
  const capability = request.headers[HEADER.reverseCapability.toLowerCase()]
  const protocol = request.headers.upgrade?.toLowerCase() ?? RAW_UPGRADE
  if (typeof capability !== 'string') throw noCapability()
  if (protocol !== RAW_UPGRADE)
    throw new RelayError('invalid_request', `a session is an upgrade to ${RAW_UPGRADE}, or to websocket`)
  return capability
}

function tooMany(message: string, waitMs = 1000): RelayError {
  return new RelayError('rate_limited', message, { 'Retry-After': `${Math.ceil(waitMs / 1000)}` })
}
