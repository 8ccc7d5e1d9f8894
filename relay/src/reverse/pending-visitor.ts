// Another process of the relay that may have a session for a visitor.

import type { Socket } from 'node:net'
import type { PeekedHello } from '../ingress/client-hello.ts'
import type { Lease } from '../lease/lease.ts'

/** A visitor who was not served yet, and all that is known of the visit. */
export interface PendingVisitor {
  visitor: Socket
  lease: Lease
  /** Undefined on a dedicated port. */
  hello: PeekedHello | undefined
  /** When the visitor came to the relay, in milliseconds of this process's monotonic clock (`performance.now()`). */
  arrivedAt: number
  /** Sessions that were activated for this visitor and broke before they answered. */
  sessionsLost: number
  /** Network of the visitor's address; undefined when that is a trusted proxy's, which stands for many clients. */
  network: string | undefined
  /** Where it came in, its source has its share of the lease's visitors: others go first. */
  isLowPriority: boolean
  /** The process that handed the visitor over to this one; undefined when the visitor came in here. */
  handedOverBy: PeerProcess | undefined
}

export interface PeerProcess {
  /** Takes the visitor away from this process. */
  handOver(pending: PendingVisitor): void
}
