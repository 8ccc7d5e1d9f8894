// A lock that only one machine of the relay holds at a time.

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { LOCK_LOOK_MS, LOCK_MS, LOCK_REFRESH_MS } from '../limits.ts'
import type { Seal } from '../shared/seal.ts'
import type { RedisKeys } from './keys.ts'
import type { RedisClient } from './redis-client.ts'
import { LOCK, UNLOCK } from './scripts.ts'

/**
 * Calls `use` while no other machine holds the lock. The lock of a machine that dies expires after {@link LOCK_MS}.
 * @throws what `use` throws, the signal's reason, or RedisError
 */
export async function withRedisLock<T>(
  { redis, keys, seal }: { redis: RedisClient; keys: RedisKeys; seal: Seal },
  name: string,
  signal: AbortSignal,
  use: () => Promise<T>,
): Promise<T> {
  const key = keys.lock(name)
  const holder = seal.close('lock', key, '', randomUUID())
  const take = async (): Promise<boolean> => {
    const found = `${await redis.run(LOCK, { lock: key }, { holder, lifetimeMs: LOCK_MS })}`
    if (found === holder) return true
    // A forged lock has no holder.
    if (seal.open('lock', key, '', found) === undefined)
      await redis.run(UNLOCK, { lock: key }, { holder: found })
    return false
  }
  while (!(await take())) await pause(LOCK_LOOK_MS, undefined, { signal })
  const refresh = setInterval(() => void take().catch(() => {}), LOCK_REFRESH_MS)
  try {
    return await use()
  } finally {
    clearInterval(refresh)
    await redis.run(UNLOCK, { lock: key }, { holder }).catch(() => {})
  }
}
