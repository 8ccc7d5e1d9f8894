// Relays that wait to be looked at: how many, how often, and the shares of those who name them.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Candidate, Candidates } from '../../src/features/discovery/candidates.ts'
import type { ReadDescriptor } from '../../src/features/discovery/descriptor-rules.ts'
import { DISCOVERY_LIMITS } from '../../src/features/discovery/limits.ts'
import { RecentLookups } from '../../src/features/discovery/recent-lookups.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const candidate = (name: string, source: string): Candidate => ({
  read: { origin: `https://${name}.example` } as ReadDescriptor,
  isGenuine: true,
  source,
})
const candidatesOf = (
  look: (candidate: Candidate) => Promise<void>,
  times = new RecentLookups(DISCOVERY_LIMITS.pollMs),
) => new Candidates({ look, times })
const forever = (): Promise<void> => new Promise(() => {})
const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

test('are looked at 8 at once, 2 of one source', async () => {
  const running = new Map<string, number>()
  let most = 0
  let mostOfOne = 0
  const candidates = candidatesOf(async ({ source }) => {
    running.set(source, (running.get(source) ?? 0) + 1)
    mostOfOne = Math.max(mostOfOne, running.get(source)!)
    most = Math.max(
      most,
      [...running.values()].reduce((sum, count) => sum + count),
    )
    await wait(5_000)
    running.set(source, running.get(source)! - 1)
  })
  for (let index = 0; index < 200; index++)
    candidates.offer(candidate(`r${index}`, index < 100 ? 'crowd' : `source ${index % 10}`))
  await vi.advanceTimersByTimeAsync(20_000)
  expect([most, mostOfOne]).toEqual([8, 2])
  await vi.advanceTimersByTimeAsync(600_000)
  expect(candidates.size).toBe(0)
})

test('are looked at 240 a minute at most, after a burst of 64', async () => {
  let looked = 0
  const candidates = candidatesOf(async () => void looked++)
  for (let index = 0; index < 256; index++) candidates.offer(candidate(`r${index}`, `source ${index}`))
  await vi.advanceTimersByTimeAsync(1)
  expect(looked).toBe(64)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(looked).toBeGreaterThan(180)
  expect(looked).toBeLessThan(190)
  candidates.close()
})

test('are 512; a source with fewer takes the place of the last one of that with the most', async () => {
  const looked: string[] = []
  const candidates = candidatesOf(({ read }) => {
    looked.push(read.origin)
    return forever()
  })
  for (let index = 0; index < 512; index++)
    expect(candidates.offer(candidate(`r${index}`, 'crowd'))).toBe(true)
  expect(candidates.offer(candidate('one-more', 'crowd'))).toBe(false)
  expect(candidates.offer(candidate('other', 'somebody'))).toBe(true)
  expect(candidates.size).toBe(512)
  expect(candidates.offer(candidate('r511', 'crowd'))).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(looked).toEqual(['https://r0.example', 'https://r1.example', 'https://other.example'])
  candidates.close()
})

test('of an origin that waits, or was looked at lately, are the same one', async () => {
  const looked: string[] = []
  const times = new RecentLookups(DISCOVERY_LIMITS.pollMs)
  const candidates = candidatesOf(async ({ read }) => {
    looked.push(read.origin)
    times.add(read.origin)
  }, times)
  for (let index = 0; index < 10; index++) candidates.offer(candidate('same', `source ${index}`))
  await vi.advanceTimersByTimeAsync(DISCOVERY_LIMITS.pollMs - 1)
  candidates.offer(candidate('same', 'late'))
  expect(looked).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  candidates.offer(candidate('same', 'late'))
  await vi.advanceTimersByTimeAsync(1)
  expect(looked).toHaveLength(2)
  // 4,096 origins are remembered.
  for (let index = 0; index < 4096; index++) times.add(`https://r${index}.example`)
  candidates.offer(candidate('same', 'late'))
  await vi.advanceTimersByTimeAsync(1)
  expect(looked).toHaveLength(3)
})

test('that a source named behind slow ones of its own are looked at when another source names them', async () => {
  const looked: string[] = []
  const candidates = candidatesOf(({ read, source }) => {
    looked.push(`${read.origin} of ${source}`)
    return source === 'hostile' ? forever() : Promise.resolve()
  })
  for (const name of ['slow1', 'slow2', 'slow3', 'wanted', 'wanted too'])
    candidates.offer(candidate(name, 'hostile'))
  candidates.offer(candidate('wanted', 'honest'))
  await vi.advanceTimersByTimeAsync(1)
  expect(looked).toEqual([
    'https://slow1.example of hostile',
    'https://slow2.example of hostile',
    'https://wanted.example of honest',
  ])
  // Nor does the hostile source take it back.
  expect(candidates.isIdle('https://slow1.example', 'honest')).toBe(true)
  expect(candidates.size).toBe(4)
  candidates.close()
})

test('that another one looked at meanwhile take no turn', async () => {
  const looked: string[] = []
  const times = new RecentLookups(DISCOVERY_LIMITS.pollMs)
  let end = (): void => {}
  const candidates = candidatesOf(({ read }) => {
    looked.push(read.origin)
    return new Promise((resolve) => {
      end = resolve
    })
  }, times)
  for (const name of ['one', 'two', 'three', 'four']) candidates.offer(candidate(name, 'source'))
  times.add('https://three.example')
  end()
  await vi.advanceTimersByTimeAsync(1)
  expect(looked).toEqual(['https://one.example', 'https://two.example', 'https://four.example'])
  expect(candidates.size).toBe(2)
  candidates.close()
})
