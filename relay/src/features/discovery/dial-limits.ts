// Bounds how often this relay dials a network in which it has not found a relay before: names from strangers may lead
// to any host.

import { hash, randomBytes } from 'node:crypto'
import { GcraLimiter, type Rate } from '@svc/node-kit/gcra'
import { DIAL_SLOTS, DISCOVERY_LIMITS } from './limits.ts'

const SLOT_KEY_BYTES = 32

export class DialLimits {
  readonly #rates: GcraLimiter
  /** Secret, so that nobody can choose names that take the share of another network. */
  readonly #slotKey = randomBytes(SLOT_KEY_BYTES).toString('hex')

  constructor(perNetwork: Rate = DISCOVERY_LIMITS.dialsPerNetwork) {
    this.#rates = new GcraLimiter(DIAL_SLOTS, perNetwork)
  }

  /** Counts one dial. @param network as `relayNetworkOf` returns it @returns false when the limit is exceeded */
  take(network: string): boolean {
    const slot = hash('sha256', this.#slotKey + network, 'buffer').readUInt32BE() % DIAL_SLOTS
    const now = performance.now()
    if (this.#rates.waitMs(slot, 1, now) > 0) return false
    this.#rates.spend(slot, 1, now)
    return true
  }
}
