// Limits the requests of each network, and of all networks together, before the relay authenticates them.

import { hash, randomBytes } from 'node:crypto'
import {
  BUDGET_COST,
  RELAY_BUDGET_BURST,
  RELAY_BUDGET_PER_MINUTE,
  SOURCE_BUDGET_BURST,
  SOURCE_BUDGET_PER_MINUTE,
} from '@svc/protocol'
import { networkOf } from '../client-address/ip-address.ts'
import type { RateLimitSettings } from '../config/settings.ts'
import { RelayError } from '../errors.ts'
import { RATE_LIMIT_SLOTS, REFUND_BURST, REFUND_PER_MINUTE } from '../limits.ts'
import { GcraLimiter, type Rate } from './gcra.ts'

/** Units of one registration, its challenge included. */
const REGISTRATION_COST: number = BUDGET_COST.challenge + BUDGET_COST.register
const SLOT_KEY_BYTES = 32

export class RateLimits {
  readonly #networks: GcraLimiter
  readonly #refunds: GcraLimiter
  readonly #relay: GcraLimiter
  readonly #slotKey: string

  /** @param slotKey secret of this process, without which a client cannot aim at another network's slot */
  constructor(settings: RateLimitSettings, slotKey: Buffer = randomBytes(SLOT_KEY_BYTES)) {
    const { networkPerMinute, relayPerMinute } = settings
    this.#networks = new GcraLimiter(
      RATE_LIMIT_SLOTS,
      scaled(networkPerMinute, { perMinute: SOURCE_BUDGET_PER_MINUTE, burst: SOURCE_BUDGET_BURST }),
    )
    const refundsPerMinute = (REFUND_PER_MINUTE * networkPerMinute) / SOURCE_BUDGET_PER_MINUTE
    this.#refunds = new GcraLimiter(
      RATE_LIMIT_SLOTS,
      scaled(refundsPerMinute, { perMinute: REFUND_PER_MINUTE, burst: REFUND_BURST }),
    )
    this.#relay = new GcraLimiter(
      1,
      scaled(relayPerMinute, { perMinute: RELAY_BUDGET_PER_MINUTE, burst: RELAY_BUDGET_BURST }),
    )
    this.#slotKey = slotKey.toString('hex')
  }

  /**
   * Charges `units` to the client's network and to the relay, or to neither.
   * @param clientIp normalized IP address
   * @throws RelayError `rate_limited` with the time until there are enough units
   */
  charge(clientIp: string, units: number): void {
    const slot = this.#slotOf(clientIp)
    const now = performance.now()
    const waitMs = Math.max(this.#networks.waitMs(slot, units, now), this.#relay.waitMs(0, units, now))
    if (waitMs > 0)
      throw new RelayError('rate_limited', 'too many requests', {
        'Retry-After': `${Math.ceil(waitMs / 1000)}`,
      })
    this.#networks.spend(slot, units, now)
    this.#relay.spend(0, units, now)
  }

  /** Gives the units of a registration back to the network of a page that unregisters, most often to be reloaded. */
  refundRegistration(clientIp: string): void {
    const slot = this.#slotOf(clientIp)
    const now = performance.now()
    if (this.#refunds.waitMs(slot, REGISTRATION_COST, now) > 0) return
    this.#refunds.spend(slot, REGISTRATION_COST, now)
    this.#networks.refund(slot, REGISTRATION_COST, now)
  }

  #slotOf(clientIp: string): number {
    return hash('sha256', this.#slotKey + networkOf(clientIp), 'buffer').readUInt32BE() % RATE_LIMIT_SLOTS
  }
}

/** Scales a rate and its burst. A whole registration stays possible at once, however low the rate is. */
function scaled(perMinute: number, usual: Rate): Rate {
  return { perMinute, burst: Math.max(REGISTRATION_COST, (usual.burst * perMinute) / usual.perMinute) }
}
