// The bandwidth of an identity is one for all that it has in a process: its lease, the next one, and its stored files.

import { expect, test } from 'vitest'
import { IdentityBandwidths } from '../../src/core/policy/identity-bandwidths.ts'

const limits: Record<string, number> = { one: 1000, other: 1000 }
const policy = {
  bytesPerSecond: ({ identityKey }: { identityKey: string }): number => limits[identityKey] ?? 0,
}

test('a lease and a snapshot of one identity share it, and others have their own', () => {
  const bandwidths = new IdentityBandwidths(policy, () => 1)
  const lease = { identityKey: 'one' }
  bandwidths.of(lease).spend(10_000)
  expect(bandwidths.limitOf({ identityKey: 'one' })).toBe(bandwidths.of(lease))
  expect(bandwidths.limitOf({ identityKey: 'other' })?.spend(0)).toBe(0)
})

test('an identity without a limit has none, until the policy sets one', () => {
  const bandwidths = new IdentityBandwidths(policy, () => 1)
  const owner = { identityKey: 'new' }
  expect(bandwidths.limitOf(owner)).toBeUndefined()
  limits.new = 1000
  expect(bandwidths.limitOf(owner)?.isLimited).toBe(true)
})

test('each of several processes has an even share', () => {
  const bandwidth = new IdentityBandwidths(policy, () => 4).of({ identityKey: 'one' })
  bandwidth.spend(250)
  expect(bandwidth.spend(250)).toBeGreaterThan(900)
})
