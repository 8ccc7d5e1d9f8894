// Another process of the relay that may have a session for a visitor.

import type { Socket } from 'node:net'
import type { PeekedHello } from '../ingress/client-hello.ts'
import type { Lease } from '../lease/lease.ts'

/** A visitor who was not served yet, and all that is known of the visit. */
export interface Arrival {
  visitor: Socket
  lease: Lease
  /** Undefined on a dedicated port. */
  hello: PeekedHello | undefined
  /** When a session has to be there, in milliseconds since the epoch. */
  until: number
}

export interface Place {
  /** Takes the visitor away from this process. */
  handOver(arrival: Arrival): void
}
