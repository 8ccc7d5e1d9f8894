// The family `cluster`: visitors who pass from one machine of a relay to another, Redis's work, and 100,000 leases on three machines.
import { findHaproxy } from '../../tools/programs/haproxy.ts'
import { findRedis } from '../../tools/programs/services.ts'
import { startMachines } from '../../tools/relay/machines.ts'
import { type Entry, missing } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { crowd } from './crowd.ts'
import { passing } from './passing.ts'
import { renewals } from './renewals.ts'

export async function* cluster({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  if (findRedis() === undefined || findHaproxy() === undefined) {
    const question = {
      name: 'visitors across machines',
      unit: 'ms',
      better: 'less',
      peer: 'on one machine',
    } as const
    yield missing(question, null, 'apt-get install redis-server haproxy')
    return
  }
  const two = await startMachines({ count: 2 })
  try {
    yield* passing(two, runs)
    yield* renewals(two)
  } finally {
    await two.stop()
  }
  yield* crowd()
}
