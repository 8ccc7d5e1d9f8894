// Defines the visitor who waits for a session, and the peer that may have one: another process or machine of this relay.

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { PeekedHello } from '../ingress/client-hello.ts'
import type { Lease } from '../lease/lease.ts'

/** A visitor's connection: the socket, or a stream of the link over which another machine passes the visitor on. */
export interface VisitorConnection extends Duplex {
  readonly bytesRead: number
  readonly bytesWritten: number
  /** Whether another machine has the socket, and counts its bytes. */
  readonly isLinked?: boolean
  resetAndDestroy: Socket['resetAndDestroy'] | (() => void)
  destroySoon(): void
}

/** A visitor without a session yet, and what the relay knows of it. */
export interface PendingVisitor {
  visitor: VisitorConnection
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
  /** The peer that handed the visitor over to this process; undefined when this process accepted the visitor. */
  handedOverBy: SessionPeer | undefined
  /** Machines that passed the visitor on, this one not included. @default 0 */
  machinesPassed?: number | undefined
}

/**
 * What became of a visitor who was handed over.
 * - `gone`: it is the peer's, or has left
 * - `returned`: the peer did not take it, and it waits here as before
 */
export type HandOverOutcome = 'gone' | 'returned'

/** Another process or machine of this relay, which may have sessions of the same leases. */
export interface SessionPeer {
  /**
   * Whether it is another machine. It has as many sessions as it last said until it says something else, since they come and
   * go there all the time; those of a process are counted down here.
   */
  readonly isMachine?: boolean
  /** Hands the visitor over. A process gets the socket, which closes here; a machine gets its bytes as long as it is here. */
  handOver(pending: PendingVisitor): HandOverOutcome | Promise<HandOverOutcome>
}

/** A session of this process, or a peer that has one. */
export type ClaimedSession = Duplex | SessionPeer
