// The table of known relays: its limits, what it evicts for whom, and to whom an origin belongs.

import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { ReadDescriptor } from '../../src/features/discovery/descriptor-rules.ts'
import { KnownRelays } from '../../src/features/discovery/known-relays.ts'
import { relayNetworkOf } from '../../src/features/discovery/networks.ts'

vi.mock('../../src/core/clock.ts', async (original) => ({
  ...(await original<object>()),
  fromWallTime: (time: number) => time,
}))

const NOW = 1_000_000_000_000
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

let relays: KnownRelays
beforeEach(() => {
  relays = new KnownRelays(() => false)
})

const addressOf = (index: number): string => `0x${index.toString(16).padStart(40, '0')}`

/** The descriptor of relay `index`, which is valid for 5 minutes. */
function read(
  index: number,
  { origin = `https://relay${index}.example`, issuedAt = NOW } = {},
): ReadDescriptor {
  const descriptor = {} as ReadDescriptor['descriptor']
  return { descriptor, origin, address: addressOf(index), issuedAt, expiresAt: issuedAt + 5 * MINUTE_MS }
}

/** Each in a network of its own, unless told otherwise. */
const confirm = (one: ReadDescriptor, network = `of ${one.origin}`, now = NOW) =>
  relays.confirm(one, { network, release: '1.0.0' }, now)
const origins = (now = NOW): string[] => [...relays.current(now)].map(({ origin }) => origin)

describe('1,024 relays', () => {
  beforeEach(() => {
    for (let index = 0; index < 1024; index++) expect(confirm(read(index))).toBeUndefined()
  })

  test('are the most, while all of them answer', () => {
    expect(confirm(read(1024))).toBe('full')
    expect(origins()).toHaveLength(1024)
    expect(origins()).not.toContain('https://relay1024.example')
    // Known ones are still refreshed.
    expect(confirm(read(3, { issuedAt: NOW + 1 }))).toBeUndefined()
  })

  test('make room for another one where one does not answer, or has expired', () => {
    relays.failed('https://relay7.example')
    expect(confirm(read(1024))).toBe('full')
    relays.failed('https://relay7.example')
    expect(confirm(read(1024))).toBeUndefined()
    expect(relays.at('https://relay7.example')).toBeUndefined()
    for (let index = 0; index < 1024; index++)
      if (index !== 7 && index !== 500) confirm(read(index, { issuedAt: NOW + MINUTE_MS }))
    const later = NOW + 5 * MINUTE_MS + 1
    expect(confirm(read(1025, { issuedAt: later }), 'new', later)).toBeUndefined()
    expect(relays.size).toBe(1024)
    // Of the two that have expired, that of the older descriptor went.
    expect(
      [500, 1024].filter((index) => relays.at(`https://relay${index}.example`) === undefined),
    ).toHaveLength(1)
  })
})

describe('64 relays of one network', () => {
  const network = '192.0.2.0/24'
  beforeEach(() => {
    for (let index = 0; index < 64; index++) expect(confirm(read(index), network)).toBeUndefined()
  })

  test('are the most; others are taken from other networks', () => {
    expect(confirm(read(64), network)).toBe('crowded')
    expect(confirm(read(64), '198.51.100.0/24')).toBeUndefined()
    expect(confirm(read(64, { issuedAt: NOW + 1 }), network)).toBe('crowded')
    expect(origins()).toHaveLength(65)
  })

  test('make room where one of them does not answer, and nobody else does', () => {
    confirm(read(70), 'elsewhere')
    for (const index of [70, 5]) for (const _ of [1, 2]) relays.failed(`https://relay${index}.example`)
    expect(confirm(read(64), network)).toBeUndefined()
    expect(relays.at('https://relay5.example')).toBeUndefined()
    expect(relays.at('https://relay70.example')).toBeDefined()
    expect(confirm(read(65), network)).toBe('crowded')
  })

  test('give a place back when one moves to another network or address', () => {
    expect(confirm(read(1), 'elsewhere')).toBeUndefined()
    expect(confirm(read(64), network)).toBeUndefined()
    expect(confirm(read(2, { origin: 'https://new.example' }), 'elsewhere')).toBeUndefined()
    expect(relays.at('https://relay2.example')).toBeUndefined()
    expect(confirm(read(65), network)).toBeUndefined()
    expect(confirm(read(66), network)).toBe('crowded')
  })
})

test('networks are /24 of IPv4 and /56 of IPv6', () => {
  expect(relayNetworkOf('192.0.2.77')).toBe('192.0.2.0/24')
  expect(relayNetworkOf('::ffff:192.0.2.77')).toBe('192.0.2.0/24')
  expect(relayNetworkOf('2001:db8:1:23ff::1')).toBe('2001:db8:1:2300::/56')
  expect(relayNetworkOf('2001:db8:1:2300:9::1')).toBe('2001:db8:1:2300::/56')
  expect(relayNetworkOf('2001:db8:1:2400::1')).toBe('2001:db8:1:2400::/56')
  expect(relayNetworkOf(undefined)).toBe('')
})

describe('an origin', () => {
  const stolen = (issuedAt: number) => read(2, { origin: 'https://relay1.example', issuedAt })

  test('stays with its address until its descriptor has been expired for a day', () => {
    confirm(read(1))
    const end = NOW + 5 * MINUTE_MS + DAY_MS
    expect(confirm(stolen(end - 1), 'n', end - 1)).toBe('other_address')
    expect(relays.at('https://relay1.example')?.address).toBe(addressOf(1))
    expect(confirm(stolen(end), 'n', end)).toBeUndefined()
    expect(relays.at('https://relay1.example')?.address).toBe(addressOf(2))
    expect(relays.size).toBe(1)
  })

  test('is forgotten after that', () => {
    confirm(read(1))
    const end = NOW + 5 * MINUTE_MS + DAY_MS
    relays.sweep(end - 1)
    expect(relays.size).toBe(1)
    relays.sweep(end)
    expect(relays.size).toBe(0)
  })
})

describe('a descriptor', () => {
  test('that is older than one of its address is not taken, at whichever origin', () => {
    confirm(read(1, { issuedAt: NOW }))
    expect(confirm(read(1, { issuedAt: NOW - 1 }))).toBe('rolled_back')
    expect(confirm(read(1, { issuedAt: NOW - 1, origin: 'https://other.example' }))).toBe('rolled_back')
    expect(confirm(read(1, { issuedAt: NOW }))).toBeUndefined()
  })

  test('from elsewhere refreshes a relay, but does not make one that is silent answer', () => {
    confirm(read(1))
    for (const _ of [1, 2]) relays.failed('https://relay1.example')
    relays.refresh(read(1, { issuedAt: NOW + 1 }))
    expect(relays.at('https://relay1.example')?.issuedAt).toBe(NOW + 1)
    expect(origins()).toEqual([])
    relays.refresh(read(2, { origin: 'https://relay1.example', issuedAt: NOW + 2 }))
    relays.refresh(read(3))
    expect(relays.size).toBe(1)
    expect(relays.at('https://relay1.example')?.address).toBe(addressOf(1))
  })

  test('is passed on until it expires', () => {
    confirm(read(1))
    expect(origins(NOW + 5 * MINUTE_MS - 1)).toHaveLength(1)
    expect(origins(NOW + 5 * MINUTE_MS)).toEqual([])
  })
})

test('a relay of an earlier life is passed on once it has answered', () => {
  relays.restore(read(1), { network: 'n', release: '' }, NOW)
  relays.restore(read(2), { network: 'n', release: '' }, NOW + 5 * MINUTE_MS + DAY_MS)
  expect(relays.size).toBe(1)
  expect(origins()).toEqual([])
  confirm(read(1))
  expect(origins()).toEqual(['https://relay1.example'])
})
