// Tests the expiry heap: each entry is due at its time, in order, and many at once expire in several turns.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import fc from '../../../tools/fast-check.ts'
import { now } from '../../src/core/clock.ts'
import { EXPIRIES_PER_TICK, type ExpiryEntry, ExpiryHeap } from '../../src/core/lease/expiry-heap.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('each falls due at its millisecond, also when it was moved to earlier or later; removed ones never do', () => {
  const due: string[] = []
  const start = now()
  const deadlines = new ExpiryHeap<string>((name) => due.push(`${name} ${now() - start}`))
  const [first, second, third] = ['a', 'b', 'c'].map((name, index) =>
    deadlines.add(name, start + 100 * (index + 1)),
  )
  deadlines.move(first!, start + 500)
  deadlines.move(third!, start + 50)
  deadlines.remove(second!)
  vi.advanceTimersByTime(1000)
  expect(due).toEqual(['c 50', 'a 500'])
  deadlines.remove(first!)
  expect(vi.getTimerCount()).toBe(0)
})

test('a crowd falls due in turns of a bounded number', () => {
  let due = 0
  const deadlines = new ExpiryHeap<number>(() => (due += 1))
  for (let i = 0; i < 3 * EXPIRIES_PER_TICK; i++) deadlines.add(i, now() + 100)
  vi.advanceTimersToNextTimer()
  expect(due).toBe(EXPIRIES_PER_TICK)
  vi.advanceTimersByTime(10)
  expect(due).toBe(3 * EXPIRIES_PER_TICK)
})

test('any mix of changes leaves the order of a sorted list', () => {
  const change = fc.record({
    kind: fc.constantFrom('add', 'move', 'remove'),
    which: fc.nat(),
    at: fc.integer({ min: 1, max: 1000 }),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const start = now()
      const due: number[] = []
      const deadlines = new ExpiryHeap<number>(() => due.push(now()))
      const held: ExpiryEntry<number>[] = []
      for (const { kind, which, at } of changes) {
        const place = which % Math.max(1, held.length)
        if (kind === 'add' || held.length === 0) held.push(deadlines.add(held.length, start + at))
        else if (kind === 'move') deadlines.move(held[place]!, start + at)
        else deadlines.remove(held.splice(place, 1)[0]!)
      }
      vi.advanceTimersByTime(2000)
      expect(due).toEqual(held.map(({ at }) => at).toSorted((a, b) => a - b))
    }),
  )
})
