// The SDK takes the nearest relay that is not busy, in a network that is not used yet.

import { expect, it } from 'vitest'
import { LOAD_COST_MAX_MS } from '../../src/relays/limits.ts'
import { bestOf, type Candidate, candidateOf } from '../../src/relays/ranking.ts'
import { describeRelay } from '../support/relay-descriptors.ts'

const url = (host: string): URL => new URL(`https://${host}`)
const candidate = (host: string, rttMs: number, load: object = {}): Candidate =>
  candidateOf({ url: url(host), descriptor: describeRelay(`https://${host}`, load) }, rttMs)
const best = (candidates: Candidate[], ...used: string[]): string | undefined =>
  bestOf(candidates, used.map(url))?.url.host

it('the nearest comes first', () => {
  expect(best([candidate('far.one.example', 80), candidate('near.two.example', 20)])).toBe('near.two.example')
})

it('connections and traffic count as distance', () => {
  const idle = candidate('idle.one.example', 40)
  expect(best([candidate('busy.two.example', 20, { active_connections: 5_000 }), idle])).toBe(
    'idle.one.example',
  )
  expect(best([candidate('busy.two.example', 20, { tcp_bps: 125_000_000 }), idle])).toBe('idle.one.example')
})

it('what a relay says of its load weighs no more than an ocean, and less than nothing is nothing', () => {
  const busy = candidate('busy.example', 20, {
    active_connections: Number.MAX_VALUE,
    tcp_bps: Number.MAX_VALUE,
  })
  expect(busy.costMs).toBe(20 + 2 * LOAD_COST_MAX_MS)
  expect(candidate('idle.example', 20, { active_connections: -1e9, tcp_bps: -1e9 }).costMs).toBe(20)
})

it('a network that no relay in use has comes before distance, and one in use before none', () => {
  const near = candidate('b.one.example', 10)
  expect(best([near, candidate('a.two.example', 90)], 'a.one.example')).toBe('a.two.example')
  expect(best([near], 'a.one.example')).toBe('b.one.example')
  expect(best([])).toBeUndefined()
})
