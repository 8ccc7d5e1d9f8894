import { expect, test } from 'vitest'
import { AnswerCache } from '../../src/server/answer-cache.ts'
import type { Sections } from '../../src/server/message-writer.ts'

const sections = (bytes = 10): Sections => ({
  rcode: 0,
  source: 0,
  answers: 1,
  authority: 0,
  bytes: Buffer.alloc(bytes),
})
const MAX = { answers: 100, bytes: 1e6, ageMs: 1000 }

test('a flood of names that nobody asks for again displaces no answer that many ask for', () => {
  const cache = new AnswerCache({ max: MAX, now: () => 0 })
  const wanted = sections()
  cache.get('wanted', 1)
  cache.set('wanted', wanted)
  for (let index = 0; index < 10_000; index++) {
    if (cache.get(`random ${index}`, 1) === undefined) cache.set(`random ${index}`, sections())
    if (index % 20 === 0) expect(cache.get('wanted', 1)).toBe(wanted)
    expect(cache.size.answers).toBeLessThanOrEqual(MAX.answers + 1)
  }
  expect(cache.get('random 1', 1)).toBeUndefined()
})

test('large answers displace others by their bytes', () => {
  const cache = new AnswerCache({ max: { ...MAX, answers: 1e6 }, now: () => 0 })
  cache.get('', 1)
  for (let index = 0; index < 1000; index++) {
    cache.set(`${index}`, sections(50_000))
    expect(cache.size.bytes).toBeLessThanOrEqual(MAX.bytes)
  }
  expect(cache.size.answers).toBeGreaterThan(5)
})

test('another version of the zone, and time, end all answers', () => {
  let now = 0
  const cache = new AnswerCache({ max: MAX, now: () => now })
  cache.get('a', 1)
  cache.set('a', sections())
  expect(cache.get('a', 1)).toBeDefined()
  expect(cache.get('a', 2)).toBeUndefined()
  expect(cache.get('a', 1)).toBeUndefined()
  cache.set('a', sections())
  now = MAX.ageMs + 1
  expect(cache.get('a', 1)).toBeUndefined()
  expect(cache.size).toEqual({ answers: 0, bytes: 0 })
})
