// Counts the wrong secrets of each network at all machines together: who guesses at several has no more attempts.

import { LOGIN_FAILURES_PER_MINUTE } from '@svc/protocol'
import {
  type AttemptCounter,
  type FailedAttempt,
  MINUTE_MS,
} from '../../../core/rate-limit/failed-attempts.ts'
import type { RedisKeys } from '../redis/keys.ts'
import { orDown, type RedisClient } from '../redis/redis-client.ts'
import { COUNT_FAILURE } from '../redis/scripts.ts'

interface SharedAttemptsParts {
  redis: RedisClient
  keys: RedisKeys
}

export class SharedAttempts implements AttemptCounter {
  readonly #parts: SharedAttemptsParts
  readonly #kind: string

  /** @param kind the kind of secret */
  constructor(parts: SharedAttemptsParts, kind: string) {
    this.#parts = parts
    this.#kind = kind
  }

  /** @throws RelayError while Redis is down: nobody then learns whether a secret is right, for nobody can register */
  async failed(network: string): Promise<FailedAttempt> {
    const { redis, keys } = this.#parts
    const failures = keys.failures(this.#kind, network)
    const limit = { most: LOGIN_FAILURES_PER_MINUTE, windowMs: MINUTE_MS }
    const [wait, isFirst] = (await orDown(
      redis.run(COUNT_FAILURE, { failures, exceeded: `${failures}:exceeded` }, limit),
    )) as [number, number]
    return { waitS: wait > 0 ? Math.ceil(wait / 1000) : undefined, isFirst: isFirst === 1 }
  }
}
