// Limits the answers to each network: by UDP, so that nobody is flooded by way of this server, and to those that have proved
// their address, so that one of them does not keep the server busy.

import { GcraLimiter, NETWORK_SLOTS } from '@svc/node-kit/gcra'
import type { Client } from './client.ts'
import { slotOf } from './hash.ts'
import {
  ANSWERS_BURST,
  ANSWERS_PER_SECOND,
  NETWORK_ANSWERS_BURST,
  NETWORK_ANSWERS_PER_SECOND,
  PROVEN_ANSWERS_BURST,
  PROVEN_ANSWERS_PER_SECOND,
  SLIP_EVERY,
} from './limits.ts'

const SECONDS_PER_MINUTE = 60

/** What happens to an answer: it is sent, sent without its records, or dropped. */
export type Verdict = 'send' | 'slip' | 'drop'

interface ResponseRate {
  perSecond: number
  burst: number
}

/** Of the answers to one network. */
export interface ResponseRates {
  /** Of those that come from one name of the zone, to addresses that may be forged. */
  name: ResponseRate
  /** Of all to addresses that may be forged. */
  network: ResponseRate
  /** Of all to addresses that are proven. */
  proven: ResponseRate
}

const RATES: ResponseRates = {
  name: { perSecond: ANSWERS_PER_SECOND, burst: ANSWERS_BURST },
  network: { perSecond: NETWORK_ANSWERS_PER_SECOND, burst: NETWORK_ANSWERS_BURST },
  proven: { perSecond: PROVEN_ANSWERS_PER_SECOND, burst: PROVEN_ANSWERS_BURST },
}

export class ResponseLimiter {
  readonly #names: Slots
  readonly #networks: Slots
  readonly #proven: Slots
  readonly #now: () => number

  constructor(rates: Partial<ResponseRates> = {}, now: () => number = () => performance.now()) {
    const { name, network, proven } = { ...RATES, ...rates }
    this.#names = new Slots(name)
    this.#networks = new Slots(network)
    this.#proven = new Slots(proven)
    this.#now = now
  }

  /**
   * Judges an answer to an address that may be forged. What goes beyond the rate of a name takes nothing from other names.
   * @param source tells the number of the name that the answer comes from, and is not called when the network has no answers
   *   left
   */
  judge({ networkHash }: Client, source: () => number): Verdict {
    const now = this.#now()
    const network = slotOf(networkHash, NETWORK_SLOTS)
    if (this.#networks.isSpent(network, now)) return this.#networks.excess(network)
    const name = slotOf(networkHash, NETWORK_SLOTS, source())
    if (this.#names.isSpent(name, now)) return this.#names.excess(name)
    this.#networks.spend(network, now)
    this.#names.spend(name, now)
    return 'send'
  }

  /** Judges an answer to an address that is proven. */
  judgeProven({ networkHash }: Client): Verdict {
    const now = this.#now()
    const network = slotOf(networkHash, NETWORK_SLOTS)
    if (this.#proven.isSpent(network, now)) return this.#proven.excess(network)
    this.#proven.spend(network, now)
    return 'send'
  }
}

/** Networks and names share slots, which are so many that a flood of addresses slows none of them down. */
class Slots {
  readonly #limiter: GcraLimiter
  /** Answers beyond the rate since the last one that was sent without records. */
  readonly #limited = new Uint8Array(NETWORK_SLOTS)

  constructor({ perSecond, burst }: ResponseRate) {
    this.#limiter = new GcraLimiter(NETWORK_SLOTS, { perMinute: perSecond * SECONDS_PER_MINUTE, burst })
  }

  isSpent(slot: number, now: number): boolean {
    return this.#limiter.waitMs(slot, 1, now) > 0
  }

  spend(slot: number, now: number): void {
    this.#limiter.spend(slot, 1, now)
  }

  excess(slot: number): Verdict {
    this.#limited[slot] = (this.#limited[slot]! + 1) % SLIP_EVERY
    return this.#limited[slot] === 0 ? 'slip' : 'drop'
  }
}
