// Counts the sessions that broke before they answered a visitor, by network and lease, so that one network cannot use up
// what a lease may lose.

import { hash, randomBytes } from 'node:crypto'
import { GcraLimiter, NETWORK_SLOTS, type Rate } from '@svc/node-kit/gcra'
import type { PendingVisitor } from '../reverse/pending-visitor.ts'
import { SESSIONS_LOST } from '../reverse/ready-queue.ts'
import { readyQueueOf } from '../reverse/ready-queues.ts'

/** Share of these that the visitors of one network may cause. Beyond it, they get no session of that lease. */
const NETWORK_SHARE = 0.25
const RATE: Rate = {
  perMinute: SESSIONS_LOST.perMinute * NETWORK_SHARE,
  burst: SESSIONS_LOST.burst * NETWORK_SHARE,
}
const SLOT_KEY_BYTES = 32

type VisitorOrigin = Pick<PendingVisitor, 'lease' | 'network'>

export class LostSessions {
  /** Undefined until a session breaks. */
  #rates: GcraLimiter | undefined
  readonly #slotKey = randomBytes(SLOT_KEY_BYTES).toString('hex')

  count(origin: VisitorOrigin): void {
    readyQueueOf(origin.lease).sessionLost()
    if (origin.network === undefined) return
    this.#rates ??= new GcraLimiter(NETWORK_SLOTS, RATE)
    this.#rates.spend(this.#slotOf(origin), 1, performance.now())
  }

  /** Whether visitors of that network have broken too many of the lease's sessions to get another one. */
  isLimitReached(origin: VisitorOrigin): boolean {
    if (this.#rates === undefined || origin.network === undefined) return false
    return this.#rates.waitMs(this.#slotOf(origin), 1, performance.now()) > 0
  }

  #slotOf({ lease, network }: VisitorOrigin): number {
    return hash('sha256', `${this.#slotKey} ${lease.id} ${network}`, 'buffer').readUInt32BE() % NETWORK_SLOTS
  }
}
