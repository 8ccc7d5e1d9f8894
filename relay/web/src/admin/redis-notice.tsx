// Says that Redis, through which the machines of a relay share their state, does not answer.
import type { VNode } from '../preact.ts'
import { MACHINES } from '../texts/admin.ts'

export function RedisNotice(): VNode {
  return (
    <p class="notice" role="alert">
      {MACHINES.redisDown}
    </p>
  )
}
