// The visitors who wait: the bounds of their number, and their time.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  HOLD_MS,
  KNOCK_MS,
  LEAVE_MS,
  NETWORK_KNOCKS_BURST,
  NETWORK_WAITING_MAX,
  WAITING_MAX,
  WIDE_KNOCKS_BURST,
} from '../../../src/access/knock/limits.ts'
import type { Knocker, Place, Verdict } from '../../../src/access/knock/place.ts'
import { WaitingList } from '../../../src/access/knock/waiting-list.ts'

let list: WaitingList
let knocked: Place[]
let answers: Verdict[]
let count = 0

beforeEach(() => {
  vi.useFakeTimers()
  knocked = []
  answers = []
  list = new WaitingList({
    knocked: (place) => knocked.push(place),
    answered: (_, verdict) => answers.push(verdict),
  })
})
afterEach(() => {
  list.close()
  vi.useRealTimers()
})

function knocker(address: string): Knocker {
  const wide = address.split('.').slice(0, 2).join('.')
  count += 1
  return { key: String(count), address, network: address, wide, browser: 'curl', path: '/' }
}

const add = (address: string): Place | undefined => list.add(knocker(address))
/** Keeps all places, as visitors do who ask again. */
function pass(ms: number): void {
  for (let left = ms; left > 0; left -= 1_000) {
    vi.advanceTimersByTime(Math.min(left, 1_000))
    for (const place of list.places) place.touch()
  }
}

describe('the number', () => {
  test('the newest of a network takes the place of its oldest', () => {
    const [first, ...others] = Array.from({ length: NETWORK_WAITING_MAX + 1 }, () => add('192.0.2.7'))
    expect(first!.ended.aborted).toBe(true)
    expect(list.places).toEqual(others)
  })

  test('a network knocks a few times in a burst, and a wide one leaves places to others', () => {
    for (let at = 0; at < 50; at += 1) add('192.0.2.7')
    expect(knocked).toHaveLength(NETWORK_KNOCKS_BURST)
    for (let at = 0; at < 50; at += 1) add(`192.0.3.${at}`)
    expect(knocked).toHaveLength(WIDE_KNOCKS_BURST)
    expect(add('198.51.100.1')).toBeDefined()
  })

  test('a full list makes room at the cost of the wide network that has the most', () => {
    const flood = Array.from({ length: WIDE_KNOCKS_BURST }, (_, at) => add(`203.0.113.${at}`)!)
    for (let at = 0; list.places.length < WAITING_MAX; at += 1) add(`10.${at}.0.1`)
    pass(3_000)
    expect(add('192.0.2.7')).toBeDefined()
    expect(flood[0]!.ended.aborted).toBe(true)
    expect(list.places).toHaveLength(WAITING_MAX)
  })

  test('a full list of as many networks has no place until one is free', () => {
    for (let at = 0; at < WAITING_MAX; at += 1) add(`10.${at}.0.1`)
    pass(3_000)
    expect(add('192.0.2.7')).toBeUndefined()
    list.places[3]!.refuse()
    expect(add('192.0.2.7')).toBeDefined()
  })

  test('many networks that knock again and again do not use up the share of one that was let in', () => {
    add('192.0.2.7')!.admit()
    for (let at = 0; at < 200; at += 1) add(`10.${at}.0.1`)?.end()
    expect(add('198.51.100.1')).toBeUndefined()
    expect(add('192.0.2.7')).toBeDefined()
  })

  test('no two who wait have the same code', () => {
    for (let at = 0; at < WAITING_MAX; at += 1) add(`10.${at}.0.1`)
    expect(new Set(list.places.map(({ code }) => code)).size).toBe(WAITING_MAX)
    for (const { code } of list.places) expect(code).toMatch(/^\d{4}$/)
  })
})

describe('the time', () => {
  test('a visitor who does not ask again has left', () => {
    const place = add('192.0.2.7')!
    vi.advanceTimersByTime(LEAVE_MS - 1)
    expect(place.ended.aborted).toBe(false)
    vi.advanceTimersByTime(1)
    expect([place.ended.aborted, list.places]).toEqual([true, []])
    place.admit()
    expect(answers).toEqual([])
  })

  test('a visitor who ends its request has left, unless it asks again', async () => {
    const place = add('192.0.2.7')!
    const gone = new AbortController()
    const held = place.wait(HOLD_MS, gone.signal)
    vi.advanceTimersByTime(LEAVE_MS)
    expect(place.ended.aborted).toBe(false)
    gone.abort()
    await held
    vi.advanceTimersByTime(LEAVE_MS)
    expect(place.ended.aborted).toBe(true)
  })

  test('a request is held for a while, and until the answer', async () => {
    const place = add('192.0.2.7')!
    const held = place.wait(HOLD_MS, new AbortController().signal)
    vi.advanceTimersByTime(HOLD_MS)
    await held
    const again = place.wait(HOLD_MS, new AbortController().signal)
    place.admit({ always: true })
    await again
    expect(answers).toEqual([{ isAdmitted: true, always: true }])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('nobody waits for longer than some minutes', () => {
    const place = add('192.0.2.7')!
    pass(KNOCK_MS)
    expect(place.ended.aborted).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })
})
