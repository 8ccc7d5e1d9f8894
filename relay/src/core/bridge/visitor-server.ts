// Serves the visitors of a process: counts each while it is connected, and bridges it to a reverse session of its
// lease.

import type { Socket } from 'node:net'
import type { ClientAddresses } from '../client-address/client-addresses.ts'
import { networkOf } from '../client-address/ip-address.ts'
import type { PeekedHello } from '../ingress/client-hello.ts'
import type { BindingStore } from '../keyless/bindings.ts'
import type { Lease } from '../lease/lease.ts'
import type { IdentityBandwidths } from '../policy/identity-bandwidths.ts'
import type { PendingVisitor } from '../reverse/pending-visitor.ts'
import type { SessionClaimer } from './claim-session.ts'
import type { Pipe } from './pipe.ts'
import { serveTcpVisitor } from './tcp-visitor.ts'
import type { TcpVisitors } from './tcp-visitors.ts'
import { serveTlsVisitor } from './tls-visitor.ts'
import type { Visitors } from './visitors.ts'

export interface VisitorServerParts {
  clientAddresses: Pick<ClientAddresses, 'ofSocket'>
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
      arrivedAt: performance.now(),
      sessionsLost: 0,
      network,
      isLowPriority: claims.isLowPriority({ lease, network }),
      handedOverBy: undefined,
    })
  }

  /** Serves a visitor who may come from another process. Resolves as {@link accept} does. */
  async serve(pending: PendingVisitor): Promise<void> {
    const { visitor, lease, hello } = pending
    const { visitors, tcpVisitors, bandwidths, bindings, claims, pipe } = this.#parts
    if (hello === undefined) tcpVisitors.add(visitor)
    const bridging = { bindings, bandwidth: bandwidths.of(lease), claims, pipe }
    const leave = visitors.enter(visitor, lease)
    if (leave === undefined) return
    try {
      if (hello === undefined) await serveTcpVisitor(pending, bridging)
      else await serveTlsVisitor({ ...pending, hello }, bridging)
    } finally {
      leave()
    }
  }
}
