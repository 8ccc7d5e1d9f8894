// What counts the connections of visitors, in whichever process they are.

import type { Lease } from '../lease/lease.ts'

/** Whose traffic counts: a lease, or what is left of one. */
export type Counted = Pick<Lease, 'identityKey' | 'registeredFrom'>

/** A connection whose traffic counts. */
export interface CountedConnection {
  /** Counts bytes that were transferred since the last call. */
  carry(received: number, sent: number): void
  end(): void
}

export interface TrafficSink {
  /**
   * @param network of the visitor; undefined if it is unknown
   * @param isNew whether no other process has counted the connection
   */
  connect(lease: Lease, network: string | undefined, isNew: boolean): CountedConnection
}

/** A connection that another machine counts, or nobody. */
export const UNCOUNTED: CountedConnection = { carry: () => {}, end: () => {} }

/** Counts nothing. */
export const NO_TRAFFIC: TrafficSink = { connect: () => UNCOUNTED }
