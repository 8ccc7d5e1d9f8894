// Limits a rate of each network in constant memory: networks share slots, and a secret key keeps clients from choosing one.

import { hash, randomBytes } from 'node:crypto'
import { GcraLimiter, NETWORK_SLOTS, type Rate } from '@svc/node-kit/gcra'
import { networkOf, normalizeIp } from '../../core/client-address/ip-address.ts'

const SLOT_KEY_BYTES = 32

export class NetworkRates {
  readonly #rates: GcraLimiter
  readonly #slotKey = randomBytes(SLOT_KEY_BYTES).toString('hex')

  constructor(rate: Rate) {
    this.#rates = new GcraLimiter(NETWORK_SLOTS, rate)
  }

  /** @returns a function that spends units of the address's network, or returns false; keep it, since its hash costs more */
  of(address: string): (units: number) => boolean {
    const network = networkOf(normalizeIp(address) ?? address)
    const slot = hash('sha256', this.#slotKey + network, 'buffer').readUInt32BE() % NETWORK_SLOTS
    return (units) => {
      const now = performance.now()
      if (this.#rates.waitMs(slot, units, now) > 0) return false
      this.#rates.spend(slot, units, now)
      return true
    }
  }
}
