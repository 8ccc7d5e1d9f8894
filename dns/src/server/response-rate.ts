// Limits the answers to each network: over UDP, so that the server cannot be used for reflection attacks, and to networks with a proven
// address, so that one of them cannot overload the server.

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

/** The rates of answers to one network. */
export interface ResponseRates {
  /** From one name of the zone, to addresses that may be spoofed. */
  name: ResponseRate
  /** To addresses that may be spoofed, in all. */
  network: ResponseRate
  /** To proven addresses, in all. */
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
   * Decides about an answer to an address that may be spoofed. Answers beyond a name's rate do not affect other names.
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

  /** Decides about an answer to a proven address. */
  judgeProven({ networkHash }: Client): Verdict {
    const now = this.#now()
    const network = slotOf(networkHash, NETWORK_SLOTS)
    if (this.#proven.isSpent(network, now)) return this.#proven.excess(network)
    this.#proven.spend(network, now)
    return 'send'
  }
}

/** Networks and names share slots by hash; there are enough that a flood of addresses hardly affects others. */
class Slots {
  readonly #limiter: GcraLimiter
  /** The number of answers beyond the rate since the last truncated one. */
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
