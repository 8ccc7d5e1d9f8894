// Tests that a tunnel's datagrams are passed on in batches, so that a thousand at once do not keep sockets unread.

import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TickBatcher } from '../../src/datagram/tick-batcher.ts'

const range = (length: number, from = 0): number[] => Array.from({ length }, (_, at) => from + at)

test('32 at once, the rest 32 a turn, in order, also of what comes meanwhile', async () => {
  const taken: number[] = []
  const turns = new TickBatcher<number>((item) => void taken.push(item))
  for (const item of range(70)) turns.push(item)
  expect(taken).toEqual(range(32))
  await turn()
  expect(taken).toEqual(range(64))
  turns.push(70)
  expect(taken).toEqual(range(64))
  await turn()
  expect(taken).toEqual(range(71))
})

test('4096 wait and no more; what is cleared is gone, and what comes after is not', async () => {
  const taken: number[] = []
  const turns = new TickBatcher<number>((item) => void taken.push(item))
  expect(range(5000).filter((item) => turns.push(item)).length).toBe(32 + 4096)
  turns.clear()
  await turn()
  expect(taken.length).toBe(32)
  turns.push(1)
  expect(taken.length).toBe(33)
})
