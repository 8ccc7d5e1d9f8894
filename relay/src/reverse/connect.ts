// `GET /sdk/connect`: checks the capability before the upgrade, then hands the WebSocket to its carrier.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { AUDIENCE, SUBPROTOCOL, WEBSOCKET_MESSAGE_MAX_BYTES } from '@svc/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import { RelayError } from '../errors.ts'
import type { Credentials } from '../lease/credentials.ts'
import type { Lease } from '../lease/lease.ts'
import { CARRIERS_PER_LEASE_MAX } from '../limits.ts'
import type { Policy } from '../policy/policy.ts'
import { type Carrier, serveCarrier } from './carrier.ts'

export class ReverseConnect {
  readonly #credentials: Credentials
  readonly #policy: Policy
  readonly #open = new WeakMap<Lease, Set<Carrier>>()
  readonly #sockets: WebSocketServer = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: WEBSOCKET_MESSAGE_MAX_BYTES,
    handleProtocols: () => SUBPROTOCOL,
  })

  constructor(credentials: Credentials, policy: Policy) {
    this.#credentials = credentials
    this.#policy = policy
  }

  /** @throws RelayError when the request is refused; nothing was written then */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (request.httpVersion !== '1.1') throw new RelayError('http11_only', 'HTTP/1.1 is needed')
    if (request.headers.upgrade?.toLowerCase() !== 'websocket')
      throw new RelayError('invalid_request', 'an upgrade to websocket is needed')
    const lease = this.#credentials.leaseOf(offeredCapability(request), AUDIENCE.reverse)
    if (this.#policy.bars(lease)) throw new RelayError('lease_rejected', 'the lease is not allowed to route')
    const open = this.#open.get(lease)?.size ?? 0
    if (open >= CARRIERS_PER_LEASE_MAX)
      throw new RelayError('rate_limited', `${open} WebSockets are open for this lease`, {
        'Retry-After': '1',
      })
    this.#sockets.handleUpgrade(request, socket, head, (ws) => this.#serve(ws, lease))
  }

  #serve(ws: WebSocket, lease: Lease): void {
    const carriers = this.#open.get(lease) ?? new Set()
    this.#open.set(lease, carriers)
    // A page often comes back because its last WebSocket died, which is not known here yet.
    for (const carrier of carriers) carrier.probe()
    const carrier = serveCarrier(ws, lease, this.#credentials)
    carriers.add(carrier)
    ws.on('close', () => carriers.delete(carrier))
  }
}

/** The client offers exactly the subprotocol and one capability. */
function offeredCapability(request: IncomingMessage): string {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((value) => value.trim())
  const [subprotocol, capability] = offered
  if (offered.length !== 2 || subprotocol !== SUBPROTOCOL || !capability)
    throw new RelayError('invalid_request', `the subprotocols ${SUBPROTOCOL} and one capability are needed`)
  return capability
}
