// Limits the UDP answers to each network that has not proved its address, so that nobody is flooded by way of this server.

import { RATE_LIMIT_SLOTS } from '../../limits.ts'
import { GcraLimiter } from '../../rate-limit/gcra.ts'
import type { Client } from './client.ts'
import { ANSWERS_BURST, ANSWERS_PER_SECOND, SLIP_EVERY } from './limits.ts'

const SECONDS_PER_MINUTE = 60

/** What happens to an answer: it is sent, sent without its records, or dropped. */
export type Verdict = 'send' | 'slip' | 'drop'

export interface ResponseRate {
  perSecond: number
  burst: number
}

const RATE: ResponseRate = { perSecond: ANSWERS_PER_SECOND, burst: ANSWERS_BURST }

/** Networks share counters, which are so many that a flood of addresses slows none of them down. */
export class ResponseRates {
  readonly #networks: GcraLimiter
  readonly #now: () => number
  #limited = 0

  constructor({ perSecond, burst }: ResponseRate = RATE, now: () => number = () => performance.now()) {
    this.#networks = new GcraLimiter(RATE_LIMIT_SLOTS, { perMinute: perSecond * SECONDS_PER_MINUTE, burst })
    this.#now = now
  }

  judge(client: Client): Verdict {
    const slot = client.networkSlot(RATE_LIMIT_SLOTS)
    const now = this.#now()
    if (this.#networks.waitMs(slot, 1, now) > 0) return ++this.#limited % SLIP_EVERY === 0 ? 'slip' : 'drop'
    this.#networks.spend(slot, 1, now)
    return 'send'
  }
}
