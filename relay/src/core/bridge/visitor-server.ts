// Serves the visitors of a process: counts each while it is connected, and bridges it to a reverse session of its
// lease.

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { TRACE_ID_BYTES } from '@svc/protocol/proxy-protocol'
import {
  type ClientAddresses,
  UNKNOWN_ADDRESSES,
  type VisitorAddresses,
} from '../client-address/client-addresses.ts'
import { networkOf } from '../client-address/ip-address.ts'
import type { PeekedHello } from '../ingress/client-hello.ts'
import type { BindingStore } from '../keyless/bindings.ts'
import type { Lease } from '../lease/lease.ts'
import type { IdentityBandwidths } from '../policy/identity-bandwidths.ts'
import type { PendingVisitor, TracedAddresses } from '../reverse/pending-visitor.ts'
import type { SessionClaimer } from './claim-session.ts'
import type { Pipe } from './pipe.ts'
import { serveTcpVisitor } from './tcp-visitor.ts'
import type { TcpVisitors } from './tcp-visitors.ts'
import { serveTlsVisitor } from './tls-visitor.ts'
import type { Visitors } from './visitors.ts'

export interface VisitorServerParts {
  clientAddresses: Pick<ClientAddresses, 'ofSocket' | 'endsOf'>
  visitors: Visitors
  tcpVisitors: TcpVisitors
  claims: SessionClaimer
  bindings: BindingStore
  bandwidths: IdentityBandwidths
  pipe: Pipe
}

export class VisitorServer {
  readonly #parts: VisitorServerParts

  constructor(parts: VisitorServerParts) {
    this.#parts = parts
  }

  /**
   * Serves a new visitor. Resolves when the visitor has left or another process has it.
   * @param hello undefined on a dedicated port
   */
  accept(visitor: Socket, lease: Lease, hello?: PeekedHello): Promise<void> {
    const { clientAddresses, claims } = this.#parts
    const source = clientAddresses.ofSocket(visitor)
    const network = source === undefined ? undefined : networkOf(source)
    return this.serve({
      visitor,
      lease,
      hello,
      addresses: this.addressesOf(visitor, lease, source),
      arrivedAt: performance.now(),
      sessionsLost: 0,
      network,
      isLowPriority: claims.isLowPriority({ lease, network }),
      handedOverBy: undefined,
    })
  }

  /**
   * What the site of the lease will know of a new visitor's address; undefined if it did not ask.
   * @param clientIp undefined for a trusted proxy that named no client
   */
  addressesOf(visitor: Socket, lease: Lease, clientIp: string | undefined): TracedAddresses | undefined {
    if (!lease.preferences.visitorAddress) return undefined
    return traced(this.#parts.clientAddresses.endsOf(visitor, clientIp))
  }

  /** Serves a visitor who may come from another process. Resolves as {@link accept} does. */
  async serve(pending: PendingVisitor): Promise<void> {
    const { visitor, lease, hello } = pending
    const { visitors, tcpVisitors, bandwidths, bindings, claims, pipe } = this.#parts
    // The site waits for the addresses, also of a visitor whom another relay or an older process did not describe.
    const addresses = lease.preferences.visitorAddress
      ? (pending.addresses ?? traced(UNKNOWN_ADDRESSES))
      : undefined
    if (hello === undefined) tcpVisitors.add(visitor)
    const bridging = { bindings, bandwidth: bandwidths.of(lease), claims, pipe }
    const leave = visitors.enter(visitor, lease, {
      traceId: addresses?.traceId,
      network: pending.network,
      isHandedOver: pending.handedOverBy !== undefined,
      isElsewhere: (pending.machinesPassed ?? 0) > 0 || pending.isCounted === true,
    })
    if (leave === undefined) return
    try {
      if (hello === undefined) await serveTcpVisitor({ ...pending, addresses }, bridging)
      else await serveTlsVisitor({ ...pending, addresses, hello }, bridging)
    } finally {
      leave()
    }
  }
}

/** Names a new connection, so that a site's owner can ask the operator about it. */
function traced(addresses: VisitorAddresses): TracedAddresses {
  return { ...addresses, traceId: randomBytes(TRACE_ID_BYTES) }
}
