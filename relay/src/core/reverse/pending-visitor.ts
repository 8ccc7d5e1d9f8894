// Defines the visitor who waits for a session, and the peer that may have one: another process or machine of this relay.

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { VisitorAddresses } from '../client-address/client-addresses.ts'
import type { PeekedHello } from '../ingress/client-hello.ts'
import type { Lease } from '../lease/lease.ts'

/** A visitor's connection: the socket, or a stream of the link over which another machine forwards the visitor. */
export interface VisitorConnection extends Duplex {
  readonly bytesRead: number
  readonly bytesWritten: number
  /** Whether another machine has the socket, and counts its bytes. */
  readonly isLinked?: boolean
  resetAndDestroy: Socket['resetAndDestroy'] | (() => void)
  destroySoon(): void
}

/** The addresses of a visitor for its site, and the name of the connection in the relay's log. */
export type TracedAddresses = VisitorAddresses & { traceId: Uint8Array }

/** A visitor without a session yet. */
export interface PendingVisitor {
  visitor: VisitorConnection
  lease: Lease
  /** Undefined on a dedicated port. */
  hello: PeekedHello | undefined
  /**
   * The binding of the other relay that forwarded the visitor on a route and signs for the site; undefined when this
   * relay signs.
   */
  binding?: Buffer | undefined
  /** Undefined for a lease that did not ask for them. */
  addresses?: TracedAddresses | undefined
  /** When the visitor connected to the relay, in milliseconds of this process's monotonic clock (`performance.now()`). */
  arrivedAt: number
  /** Sessions that were activated for this visitor and broke before they answered. */
  sessionsLost: number
  /** Network of the visitor's address; undefined for a trusted proxy, which stands for many clients. */
  network: string | undefined
  /**
   * Whether the visitor's network had reached its share of the lease's visitors in the process that accepted the
   * visitor.
   */
  isLowPriority: boolean
  /** The peer that handed the visitor over to this process; undefined when this process accepted the visitor. */
  handedOverBy: SessionPeer | undefined
  /** Number of machines that forwarded the visitor before this one. @default 0 */
  machinesPassed?: number | undefined
  /** Whether its traffic counts as that of another connection to this relay. @default false */
  isCounted?: boolean | undefined
}

/**
 * The outcome of a handover.
 * - `gone`: the peer has the visitor, or the visitor has left
 * - `returned`: the peer did not take the visitor, who still waits here
 */
export type HandOverOutcome = 'gone' | 'returned'

/** Another process or machine of this relay, which may have sessions of the same leases. */
export interface SessionPeer {
  /**
   * Whether it is another machine. Its number of sessions stays as last reported; that of a process is also counted
   * down here.
   */
  readonly isMachine?: boolean
  /**
   * Hands the visitor over. A process gets the socket, which closes here; a machine gets its bytes while it stays
   * connected here.
   */
  handOver(pending: PendingVisitor): HandOverOutcome | Promise<HandOverOutcome>
}

/** A session of this process, or a peer that has one. */
export type ClaimedSession = Duplex | SessionPeer
