// Tests the rhythm in which relays are asked: the interval, the number at once, and pauses after failures.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DISCOVERY_LIMITS } from '../../src/features/discovery/limits.ts'
import { Polls } from '../../src/features/discovery/polls.ts'

let time = 0
vi.mock('../../src/core/clock.ts', () => ({ now: () => time }))
beforeEach(() => {
  vi.useFakeTimers()
  time = 0
})
afterEach(() => void vi.useRealTimers())

async function pass(ms: number): Promise<void> {
  for (const end = time + ms; time < end; ) {
    time += 1_000
    await vi.advanceTimersByTimeAsync(1_000)
  }
}

/** The pauses between the questions to each relay. */
function pausesOf(asked: Map<string, number[]>): number[] {
  return [...asked.values()].flatMap((times) => times.slice(1).map((at, index) => at - times[index]!))
}

function pollsOf(targets: string[], ask: (origin: string) => Promise<boolean>, early: string[] = []) {
  const asked = new Map<string, number[]>()
  const polls = new Polls({
    ...DISCOVERY_LIMITS,
    targets: () => targets,
    ask: (origin) => {
      asked.set(origin, [...(asked.get(origin) ?? []), time])
      return ask(origin)
    },
    isAskedEarly: (origin) => early.includes(origin),
  })
  polls.start()
  return { polls, asked }
}

describe('polls', () => {
  const names = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => `https://r${index}.example`)

  test('ask each relay again after 2 minutes at the earliest, and 2.5 at the latest', async () => {
    const { polls, asked } = pollsOf(names(40), async () => true)
    await pass(30 * 60_000)
    polls.close()
    expect(asked.size).toBe(40)
    const pauses = pausesOf(asked)
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(120_000)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(153_000)
    // They do not stay together.
    expect(new Set([...asked.values()].map((times) => times.at(-1))).size).toBeGreaterThan(5)
  })

  test('ask 1,024 relays at half the rate, within the 10 minutes of a descriptor', async () => {
    const { polls, asked } = pollsOf(names(1024), async () => true)
    await pass(40 * 60_000)
    polls.close()
    const pauses = pausesOf(asked)
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(240_000)
    expect(Math.max(...pauses)).toBeLessThan(500_000)
  })

  test('ask 16 at once, however slow they are', async () => {
    let running = 0
    let most = 0
    const { polls, asked } = pollsOf(names(100), async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 5_000))
      running -= 1
      return true
    })
    await pass(5 * 60_000)
    polls.close()
    expect(most).toBe(16)
    expect(asked.size).toBe(100)
  })

  test('ask each of 1,024 relays within the 10 minutes of a descriptor, when each takes the 5 s that it may', async () => {
    const { polls, asked } = pollsOf(names(1024), async () => {
      await new Promise((resolve) => setTimeout(resolve, 5_000))
      return true
    })
    await pass(30 * 60_000)
    polls.close()
    expect(asked.size).toBe(1024)
    expect(Math.max(...pausesOf(asked))).toBeLessThan(600_000)
  })

  test('ask one that does not answer less often, and at once when it says that it is there', async () => {
    let isThere = false
    const [origin] = names(1)
    const { polls, asked } = pollsOf([origin!], async () => isThere)
    await pass(60 * 60_000)
    const pauses = pausesOf(
      new Map([...asked].map(([at, times]) => [at, times.filter((one) => one >= 60_000)])),
    )
    expect(pauses[0]).toBeGreaterThanOrEqual(240_000)
    expect(Math.max(...pauses)).toBeGreaterThanOrEqual(600_000)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(751_000)
    isThere = true
    const before = asked.get(origin!)!.at(-1)!
    await pass(Math.max(0, before + 125_000 - time))
    const count = asked.get(origin!)!.length
    polls.soon(origin!)
    await pass(2_000)
    expect(asked.get(origin!)!.length).toBe(count + 1)
    polls.soon(origin!)
    await pass(60_000)
    polls.close()
    expect(asked.get(origin!)!.length).toBe(count + 1)
  })

  test('ask bootstrap relays, and those that do not answer, after 2, 4, 8 s and so on in the first minute', async () => {
    const [bootstrap, away, other] = names(3) as [string, string, string]
    const { polls, asked } = pollsOf([bootstrap, away, other], async (at) => at !== away, [bootstrap])
    await pass(60_000)
    for (const origin of [bootstrap, away]) {
      expect(asked.get(origin)!.length).toBeGreaterThanOrEqual(5)
      expect(asked.get(origin)!.length).toBeLessThanOrEqual(6)
      expect(Math.max(...asked.get(origin)!)).toBeGreaterThanOrEqual(20_000)
    }
    expect(asked.get(other)).toHaveLength(1)
    const before = asked.get(bootstrap)!.length
    await pass(30_000)
    expect(asked.get(bootstrap)!.length).toBeLessThanOrEqual(before + 1)
    // The early failures of the one that is away have not made its pauses longer: two intervals, by chance and then four.
    await pass(10 * 60_000)
    polls.close()
    expect(asked.get(away)!.filter((at) => at > 90_000).length).toBeGreaterThanOrEqual(1)
  })

  test('ask none of a full table early', async () => {
    const all = names(1024)
    const { polls, asked } = pollsOf(all, async () => false, all)
    await pass(100_000)
    polls.close()
    expect(Math.max(...[...asked.values()].map((times) => times.length))).toBe(1)
  })

  test('ask one no more that is no target any more', async () => {
    const targets = names(2)
    const { polls, asked } = pollsOf(targets, async () => true)
    await pass(5_000)
    const gone = targets.pop()!
    await pass(20 * 60_000)
    polls.close()
    expect(asked.get(gone)).toHaveLength(1)
    expect(polls.size).toBe(1)
  })
})
