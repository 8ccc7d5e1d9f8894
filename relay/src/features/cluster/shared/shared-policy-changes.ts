// The last changes of the policy by the administrators of all machines. Each entry is `<number> <sealed JSON>`.

import type { PolicyChange, PolicyStep } from '@svc/protocol'
import { POLICY_CHANGES_MAX, type PolicyChanges } from '../../../core/policy/recent-changes.ts'
import type { RedisKeys } from '../redis/keys.ts'
import type { RedisClient } from '../redis/redis-client.ts'
import { KEEP_POLICY_CHANGE } from '../redis/scripts.ts'
import type { Seal } from './seal.ts'

interface SharedPolicyChangesParts {
  redis: RedisClient
  keys: RedisKeys
  seal: Seal
}

export class SharedPolicyChanges implements PolicyChanges {
  readonly #parts: SharedPolicyChangesParts
  /** The last changes ever read from Redis, the newest first: those removed from it stay here. */
  #known: readonly PolicyChange[] = []

  constructor(parts: SharedPolicyChangesParts) {
    this.#parts = parts
  }

  async add(step: PolicyStep, by: string | undefined, at: string): Promise<void> {
    const { redis, keys, seal } = this.#parts
    const json = JSON.stringify({ at, by, ...step })
    try {
      const counted = Number(await redis.command('INCR', keys.policyChangeNumber))
      const number = Math.max(counted, (this.#known[0]?.id ?? 0) + 1)
      const entry = `${number} ${seal.close('policy change', '', `${number}`, json)}`
      await redis.run(
        KEEP_POLICY_CHANGE,
        { changes: keys.policyChanges },
        { entry, count: POLICY_CHANGES_MAX },
      )
    } catch {
      // The audit log of this machine has it in any case.
    }
  }

  async list(): Promise<readonly PolicyChange[]> {
    const { redis, keys } = this.#parts
    try {
      const entries = (await redis.command('LRANGE', keys.policyChanges, 0, -1)) as string[]
      const found = new Map(this.#known.map((change) => [change.id, change]))
      for (const entry of entries) {
        const change = this.#parse(entry)
        if (change !== undefined) found.set(change.id, change)
      }
      this.#known = [...found.values()].sort((one, other) => other.id - one.id).slice(0, POLICY_CHANGES_MAX)
    } catch {}
    return this.#known
  }

  #parse(entry: string): PolicyChange | undefined {
    const [number = '', sealed = ''] = entry.split(' ')
    const json = this.#parts.seal.open('policy change', '', number, sealed)
    return json === undefined ? undefined : { id: Number(number), ...JSON.parse(json) }
  }
}
