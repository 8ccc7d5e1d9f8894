// Converts relay time to Redis's clock, in which machines share the ends of leases, and back.

import { now } from '../../../core/clock.ts'

/** A smaller difference may be network latency, and is ignored. */
const STEP_MS = 50

export class RedisClock {
  /** Milliseconds by which Redis is ahead of relay time. */
  #ahead: number | undefined

  get isKnown(): boolean {
    return this.#ahead !== undefined
  }

  /** @param redisTime from an answer @param askedAt relay time of the question */
  observe(redisTime: number, askedAt: number): void {
    const time = now()
    const ahead = redisTime - (askedAt + time) / 2
    const isUncertain = time - askedAt > STEP_MS && this.#ahead !== undefined
    if (this.#ahead === undefined || (!isUncertain && Math.abs(ahead - this.#ahead) > STEP_MS))
      this.#ahead = Math.round(ahead)
  }

  toRedis(relayTime: number): number {
    return relayTime + (this.#ahead ?? 0)
  }

  toRelay(redisTime: number): number {
    return redisTime - (this.#ahead ?? 0)
  }
}
