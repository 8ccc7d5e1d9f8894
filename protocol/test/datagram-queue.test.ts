// The queue of datagrams: batches, and how long something may wait, by a clock of the test's own.

import { describe, expect, test } from 'vitest'
import {
  DATAGRAM_QUEUE_MAX,
  DATAGRAM_STANDING_INTERVAL_MS,
  DATAGRAM_STANDING_WAIT_MAX_MS,
  DATAGRAM_WAIT_MAX_MS,
  DatagramQueue,
} from '../src/index.ts'

const range = (length: number, from = 0): number[] => Array.from({ length }, (_, at) => from + at)
const microtasks = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

/** A queue whose clock and pauses the test moves. */
function queueOf(batchSize: number) {
  const clock = { now: 1_000 }
  const passed: number[] = []
  const tooOld: number[] = []
  let next: (() => void) | undefined
  const queue = new DatagramQueue<number>({
    pass: (item) => void passed.push(item),
    tooOld: (item) => void tooOld.push(item),
    batchSize,
    pause: (then) => {
      next = then
      return () => {
        next = undefined
      }
    },
    now: () => clock.now,
  })
  /** Ends a pause. */
  const resume = (): void => {
    const then = next
    next = undefined
    then?.()
  }
  return { queue, clock, passed, tooOld, resume }
}

describe('in batches', () => {
  test('one passes at once, the rest one after each pause, in order, also of what comes meanwhile', () => {
    const { queue, passed, resume } = queueOf(32)
    for (const item of range(70)) queue.push(item)
    expect(passed).toEqual(range(32))
    resume()
    expect(passed).toEqual(range(64))
    queue.push(70)
    expect(passed).toEqual(range(64))
    resume()
    expect(passed).toEqual(range(71))
  })

  test('4096 wait and no more; what is cleared is gone, and what comes after is not', () => {
    const { queue, passed, tooOld, resume } = queueOf(32)
    expect(range(5000).filter((item) => queue.push(item)).length).toBe(32 + DATAGRAM_QUEUE_MAX)
    queue.clear()
    resume()
    expect(passed.length).toBe(32)
    queue.push(1)
    expect(passed.length).toBe(33)
    expect(tooOld).toEqual([])
  })
})

describe('behind a receiver that stalls', () => {
  test('what waited for more than 200 ms is dropped from the head, and the rest passes (protocol §12.2.7)', () => {
    const { queue, clock, passed, tooOld, resume } = queueOf(10)
    // one a millisecond, none of which is taken
    for (const item of range(500)) {
      queue.push(item)
      clock.now += 1
    }
    resume()
    const oldest = 500 - DATAGRAM_WAIT_MAX_MS
    expect(passed).toEqual([...range(10), ...range(10, oldest)])
    expect(tooOld).toEqual(range(oldest - 10, 10))
  })

  test('a stall of up to 200 ms costs nothing', () => {
    const { queue, clock, passed, tooOld, resume } = queueOf(100)
    for (const item of range(150)) queue.push(item)
    clock.now += DATAGRAM_WAIT_MAX_MS
    resume()
    expect(passed).toEqual(range(150))
    expect(tooOld).toEqual([])
  })

  test('the youngest passes whatever its age: it delays nothing', () => {
    const { queue, clock, passed, tooOld, resume } = queueOf(1)
    for (const item of range(5)) queue.push(item)
    clock.now += 10_000
    resume()
    expect(passed).toEqual([0, 4])
    expect(tooOld).toEqual([1, 2, 3])
  })

  test('what comes already old, from another process, waits for what comes with it', async () => {
    const { queue, clock, passed, tooOld, resume } = queueOf(10)
    queue.push(1, clock.now - 1_000)
    queue.push(2, clock.now - 900)
    queue.push(3, clock.now - 1)
    expect(passed).toEqual([])
    await microtasks()
    expect(passed).toEqual([3])
    expect(tooOld).toEqual([1, 2])
    queue.push(4, clock.now - 1_000)
    resume()
    expect(passed).toEqual([3, 4])
  })
})

test('more than a receiver takes never waits for more than 20 ms, once it is no burst any more (protocol §12.2.7)', () => {
  const { queue, clock, passed, tooOld, resume } = queueOf(1)
  /** Milliseconds for which the last one that passed had waited: each is its own time. */
  const waits: number[] = []
  // the receiver takes one of two
  for (let tick = 0; tick < 2_000; tick += 1) {
    clock.now += 1
    queue.push(clock.now)
    if (tick % 2 === 0) continue
    const before = passed.length
    resume()
    if (passed.length > before) waits.push(clock.now - passed.at(-1)!)
  }
  expect(Math.max(...waits)).toBeLessThanOrEqual(DATAGRAM_WAIT_MAX_MS)
  const settled = waits.slice(DATAGRAM_STANDING_INTERVAL_MS)
  expect(settled.length).toBeGreaterThan(500)
  expect(Math.max(...settled)).toBeLessThanOrEqual(DATAGRAM_STANDING_WAIT_MAX_MS)
  expect(tooOld.length).toBeGreaterThan(900)

  // a burst after a pause may wait for longer again
  clock.now += 1_000
  resume()
  resume()
  passed.length = 0
  tooOld.length = 0
  for (const item of range(3)) queue.push(item)
  clock.now += DATAGRAM_WAIT_MAX_MS
  resume()
  expect(tooOld).toEqual([])
})

test('a queue that was empty meanwhile does not stand, however slow each burst is', () => {
  const { queue, clock, passed, tooOld, resume } = queueOf(1)
  for (let burst = 0; burst < 10; burst += 1) {
    // from another process, which nothing passes at once
    const at = clock.now
    clock.now += 10
    for (const item of range(5)) queue.push(item, at)
    clock.now += 50
    for (let count = 0; count < 6; count += 1) resume()
    clock.now += 1
  }
  expect(tooOld).toEqual([])
  expect(passed.length).toBe(50)
})
