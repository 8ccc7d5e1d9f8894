// The queue of sites that wait for an order: lanes take turns, and no crowd delays a site of another network.

import { describe, expect, test } from 'vitest'
import fc from '../../../../tools/fast-check.ts'
import { FairQueue } from '../../../src/features/site-certificates/fair-queue.ts'

/** Takes all items, in their order. */
function drain<T>(queue: FairQueue<T>): T[] {
  return Array.from({ length: queue.size }, () => queue.shift() as T)
}

describe('a queue', () => {
  test('serves the second network next, however many of the first wait', () => {
    const queue = new FairQueue<string>(1000, 10_000)
    for (let i = 0; i < 1000; i++) queue.push('crowd', `crowd ${i}`)
    queue.push('alone', 'alone')
    expect([queue.shift(), queue.shift(), queue.shift()]).toEqual(['crowd 0', 'alone', 'crowd 1'])
  })

  test('has room for so many of one network, and for those of others', () => {
    const queue = new FairQueue<number>(2, 10_000)
    queue.push('a', 1)
    queue.push('a', 2)
    expect([queue.hasRoom('a'), queue.hasRoom('b')]).toEqual([false, true])
    queue.shift()
    expect(queue.hasRoom('a')).toBe(true)
  })

  test('removes what is obsolete, and keeps the order of the rest', () => {
    const queue = new FairQueue<number>(10, 10_000)
    for (const item of [1, 2, 3, 4]) queue.push(item < 3 ? 'a' : 'b', item)
    expect(queue.purge((item) => item !== 2 && item !== 4)).toEqual([1, 3])
    expect(drain(queue)).toEqual([2, 4])
    expect(queue.shift()).toBeUndefined()
  })

  test('lets nobody wait for more than one item of each other network, and loses nothing', () => {
    const pushes = fc.array(fc.record({ lane: fc.nat(5), item: fc.nat() }), { maxLength: 60 })
    fc.assert(
      fc.property(pushes, (list) => {
        const queue = new FairQueue<{ lane: number }>(100, 10_000)
        for (const entry of list) queue.push(`${entry.lane}`, entry)
        expect(queue.size).toBe(list.length)
        const order = drain(queue)
        expect(new Set(order)).toEqual(new Set(list))
        const lanes = new Set(list.map(({ lane }) => lane)).size
        // The n-th item of a lane comes within n rounds.
        const served = new Map<number, number>()
        for (const [at, { lane }] of order.entries()) {
          const nth = (served.get(lane) ?? 0) + 1
          served.set(lane, nth)
          expect(at + 1).toBeLessThanOrEqual(nth * lanes)
        }
      }),
    )
  })
})
