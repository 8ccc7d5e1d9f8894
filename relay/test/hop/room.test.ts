// The shares of holders: few of them do not fill what many shall have.

import { expect, test } from 'vitest'
import { HOP_VISITORS, NEIGHBOUR_CONNECTIONS, PEER_CONNECTIONS } from '../../src/hop/limits.ts'
import { Room, type RoomLimits, Rooms } from '../../src/hop/room.ts'

/** Takes all that one holder gets. @returns how much that is */
function fill(room: Room<string>, holder: string): number {
  let taken = 0
  for (; room.refusalOf(holder) === undefined; taken++) room.take(holder)
  return taken
}

test.each<[string, RoomLimits]>([
  ['visitors', HOP_VISITORS],
  ['connections to neighbours', NEIGHBOUR_CONNECTIONS],
  ['connections to one peer', PEER_CONNECTIONS],
])('the holders who fill half of the %s leave their shares to many others', (_what, limits) => {
  const room = new Room<string>(limits)
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
  const rooms = new Rooms<string, string>({ max: 4, perHolder: 1, perHolderWhenHalfFull: 1 })
  const giveBack = rooms.take('key', 'holder')
  expect(rooms.refusalOf('key', 'holder')).toBe('holder_full')
  expect(rooms.refusalOf('another', 'holder')).toBeUndefined()
  giveBack()
  expect(rooms.refusalOf('key', 'holder')).toBeUndefined()
  expect(rooms.size).toBe(0)
})
