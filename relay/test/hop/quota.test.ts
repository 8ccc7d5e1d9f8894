// The shares of holders: few of them do not fill what is for many.

import { expect, test } from 'vitest'
import { NEIGHBOUR_CONNECTIONS, PEER_CONNECTIONS } from '../../src/features/overlay/hop/limits.ts'
import { Quota, type QuotaLimits, Quotas } from '../../src/features/overlay/hop/quota.ts'
import { OVERLAY_LIMITS } from '../../src/features/overlay/limits.ts'

/** Takes all that one holder gets. @returns how much that is */
function fill(room: Quota<string>, holder: string): number {
  let taken = 0
  for (; room.refusalOf(holder) === undefined; taken++) room.take(holder)
  return taken
}

test.each<[string, QuotaLimits]>([
  ['visitors', OVERLAY_LIMITS.hopVisitors],
  ['connections to neighbours', NEIGHBOUR_CONNECTIONS],
  ['connections to one peer', PEER_CONNECTIONS],
])('the holders who fill half of the %s leave their shares to many others', (_what, limits) => {
  const room = new Quota<string>(limits)
  let greedy = 0
  while (room.size * 2 < limits.max) expect(fill(room, `greedy ${greedy++}`)).toBe(limits.perHolder)
  const others = (limits.max - room.size) / limits.perHolderWhenHalfFull
  expect(others).toBeGreaterThanOrEqual(32)
  expect(room.refusalOf('greedy 0')).toBe('holder_full')
  for (let other = 0; other < others; other++)
    expect(fill(room, `other ${other}`)).toBe(limits.perHolderWhenHalfFull)
  expect(room.refusalOf('one more')).toBe('full')
})

test('a room is gone when nothing is held in it', () => {
  const quotas = new Quotas<string, string>({ max: 4, perHolder: 1, perHolderWhenHalfFull: 1 })
  const giveBack = quotas.take('key', 'holder')
  expect(quotas.refusalOf('key', 'holder')).toBe('holder_full')
  expect(quotas.refusalOf('another', 'holder')).toBeUndefined()
  giveBack()
  expect(quotas.refusalOf('key', 'holder')).toBeUndefined()
  expect(quotas.size).toBe(0)
})
