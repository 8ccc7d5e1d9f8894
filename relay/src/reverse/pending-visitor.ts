// Defines the visitor who waits for a session, and the peer process that may have one.

import type { Socket } from 'node:net'
import type { PeekedHello } from '../ingress/client-hello.ts'
import type { Lease } from '../lease/lease.ts'

/** A visitor without a session yet, and what the relay knows of it. */
export interface PendingVisitor {
  visitor: Socket
  lease: Lease
  /** Undefined on a dedicated port. */
  hello: PeekedHello | undefined
  /**
   * The binding that another relay issued, from which the visitor comes on a route, and which signs for the site; undefined where
   * this relay does.
   */
  binding?: Buffer | undefined
  /** When the visitor connected to the relay, in milliseconds of this process's monotonic clock (`performance.now()`). */
  arrivedAt: number
  /** Sessions that were activated for this visitor and broke before they answered. */
  sessionsLost: number
  /** Network of the visitor's address; undefined when that is a trusted proxy's, which stands for many clients. */
  network: string | undefined
  /** Whether, in the process that accepted the visitor, its network has its share of the lease's visitors already. */
  isLowPriority: boolean
  /** The process that handed the visitor over to this one; undefined when this process accepted the visitor. */
  handedOverBy: PeerProcess | undefined
}

export interface PeerProcess {
  /** Sends the visitor to that process; its socket closes here. */
  handOver(pending: PendingVisitor): void
}
