// What is kept for a target that is down: its bounds, its time, and what is not sent again.

import type { DirectRequest, DirectResponse } from '@svc/sdk-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Hold, type HoldReport } from '../../src/hold/hold.ts'
import {
  DELIVERY_MAX_MS,
  HELD_BODY_MAX_BYTES,
  HELD_MAX,
  HELD_SHARE,
  RETRY_MS,
  SLOW_MS,
} from '../../src/hold/limits.ts'
import { badGateway, causeOf, textResponse } from '../../src/target/bad-gateway.ts'

const REFUSED = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
const BROKEN = Object.assign(new Error('reset'), { code: 'ECONNRESET' })

let reports: HoldReport[]
let errors: string[]
/** The bodies that arrived. */
let arrived: string[]
/** What the target does with the next request. */
let behave: (body: string) => Promise<DirectResponse>

beforeEach(() => {
  vi.useFakeTimers()
  reports = []
  errors = []
  arrived = []
  behave = async () => badGateway(REFUSED)
})
afterEach(() => {
  vi.useRealTimers()
})

function opened(answer: '202' | 'wait' = '202', time = '10m') {
  const hold = new Hold(
    { for: time, answer },
    (report) => void reports.push(report),
    ({ message }) => void errors.push(message),
  )
  const ask = (request: DirectRequest) => {
    const cancelled = Promise.withResolvers<never>()
    cancelled.promise.catch(() => {})
    return {
      respond: () => Promise.race([behave(request.url.hash), cancelled.promise]),
      cancel: (reason: unknown) => cancelled.reject(reason),
    }
  }
  return { hold, direct: hold.before({ ask, deliver: ask, causeOf }) }
}

function request(name: string, address = '192.0.2.1', body: string | undefined = undefined): DirectRequest {
  const parts = body === undefined ? [] : [new TextEncoder().encode(body)]
  const left = parts.values()
  return {
    method: 'POST',
    url: new URL(`https://site.example/hook#${name}`),
    fields: [['host', 'site.example']],
    body: { next: async () => left.next().value },
    remote: { address, port: 1, reportedBy: 'relay' },
  }
}

async function handled(name: string): Promise<DirectResponse> {
  arrived.push(name)
  return textResponse(200, 'handled')
}

it('each network has a share of the places, and the others keep theirs', async () => {
  const { direct } = opened()
  const statuses = async (count: number, address: (at: number) => string) => {
    const found: number[] = []
    for (let at = 0; at < count; at += 1)
      found.push((await direct(request('a', address(at)))!.respond()).status)
    return found
  }
  const flood = await statuses(HELD_SHARE + 5, () => '192.0.2.1')
  expect(flood.filter((status) => status === 202)).toHaveLength(HELD_SHARE)
  expect(flood.slice(-5)).toEqual([503, 503, 503, 503, 503])
  expect(await statuses(1, () => '198.51.100.1')).toEqual([202])
  const others = await statuses(HELD_MAX, (at) => `203.0.113.${at % 200}`)
  expect(others.filter((status) => status === 202)).toHaveLength(HELD_MAX - HELD_SHARE - 1)
})

it('what does not fit is told once, with 503 for its visitor, and what was kept stays', async () => {
  const { direct } = opened()
  const body = (bytes: number) => 'x'.repeat(bytes)
  const megabytes = (count: number) => body(count * 1024 * 1024)
  const status = async (name: string, address: string, content: string) =>
    (await direct(request(name, address, content))!.respond()).status
  expect(await status('body', '192.0.2.1', `${body(HELD_BODY_MAX_BYTES)}x`)).toBe(503)
  expect(await status('1', '192.0.2.1', megabytes(24))).toBe(202)
  expect(await status('share', '192.0.2.1', megabytes(8))).toBe(503)
  expect(await status('2', '192.0.2.1', megabytes(7))).toBe(202)
  expect(await status('3', '198.51.100.1', megabytes(24))).toBe(202)
  expect(await status('all', '203.0.113.1', megabytes(10))).toBe(503)
  expect(await status('4', '203.0.113.1', megabytes(1))).toBe(202)
  expect(reports.map(({ state, waiting }) => [state, waiting])).toEqual([
    ['refused', 0],
    ['kept', 1],
    ['refused', 1],
    ['kept', 2],
    ['kept', 3],
    ['refused', 3],
    ['kept', 4],
  ])
  behave = handled
  await vi.advanceTimersByTimeAsync(RETRY_MS)
  expect(arrived).toEqual(['#1', '#2', '#3', '#4'])
  expect(errors).toEqual([])
})

it('of a minute with requests all along, each is delivered or said to be lost after its time', async () => {
  const { direct } = opened('202', '30s')
  const PER_SECOND = 8
  const names: string[] = []
  for (let second = 0; second < 60; second += 1) {
    for (let at = 0; at < PER_SECOND; at += 1) {
      names.push(`#${second}.${at}`)
      const { status } = await direct(request(`${second}.${at}`, `192.0.2.${at}`))!.respond()
      expect(status).toBe(202)
    }
    await vi.advanceTimersByTimeAsync(1_000)
  }
  const lost = reports.filter(({ state }) => state === 'lost').length
  // The queue looks every half a second.
  expect(lost).toBeGreaterThanOrEqual(30 * PER_SECOND)
  expect(lost).toBeLessThanOrEqual(31 * PER_SECOND)
  expect(errors).toHaveLength(lost)
  expect(new Set(errors)).toEqual(
    new Set(['POST /hook was kept, and is lost: the target was not back in 30s, or the site has ended']),
  )
  behave = handled
  await vi.advanceTimersByTimeAsync(RETRY_MS)
  expect(arrived.length).toBeGreaterThanOrEqual(29 * PER_SECOND)
  expect(arrived).toEqual(names.slice(-arrived.length))
  const ended = reports.filter(({ state }) => state !== 'kept')
  expect(ended).toHaveLength(names.length)
  expect(ended.at(-1)).toMatchObject({ state: 'delivered', status: 200, waiting: 0 })
})

it('the room of what was delivered is free again', async () => {
  const { direct } = opened()
  for (let at = 0; at < HELD_SHARE; at += 1) await direct(request('a'))!.respond()
  expect((await direct(request('b'))!.respond()).status).toBe(503)
  behave = handled
  await vi.advanceTimersByTimeAsync(RETRY_MS)
  expect(arrived).toHaveLength(HELD_SHARE)
  behave = async () => badGateway(REFUSED)
  expect((await direct(request('c'))!.respond()).status).toBe(202)
})

it('a request that comes while others are delivered waits for them', async () => {
  const { direct } = opened()
  await direct(request('1'))!.respond()
  await direct(request('2'))!.respond()
  const first = Promise.withResolvers<void>()
  behave = async (name) => {
    await first.promise
    return handled(name)
  }
  await vi.advanceTimersByTimeAsync(RETRY_MS)
  expect((await direct(request('3'))!.respond()).status).toBe(202)
  first.resolve()
  await vi.advanceTimersByTimeAsync(RETRY_MS)
  expect(arrived).toEqual(['#1', '#2', '#3'])
  expect((await direct(request('4'))!.respond()).status).toBe(200)
})

it('its time is over after as long as the option says', async () => {
  const { direct } = opened('wait')
  const answer = direct(request('1'))!.respond()
  await vi.advanceTimersByTimeAsync(600_000 - RETRY_MS)
  expect(reports.map(({ state }) => state)).toEqual(['kept'])
  await vi.advanceTimersByTimeAsync(2 * RETRY_MS)
  expect((await answer).status).toBe(503)
  expect(reports.map(({ state }) => state)).toEqual(['kept', 'lost'])
})

it('is not sent again when the target may have handled it', async () => {
  const { direct } = opened()
  await direct(request('1'))!.respond()
  await direct(request('2'))!.respond()
  behave = async (name) => {
    arrived.push(name)
    return name === '#1' ? badGateway(BROKEN) : textResponse(204, '')
  }
  await vi.advanceTimersByTimeAsync(RETRY_MS)
  expect(arrived).toEqual(['#1', '#2'])
  expect(reports.slice(2).map(({ state, status }) => [state, status])).toEqual([
    ['delivered', undefined],
    ['delivered', 204],
  ])
})

it('a target that never answers does not hold up the others for good', async () => {
  const { direct } = opened()
  await direct(request('1'))!.respond()
  await direct(request('2'))!.respond()
  behave = (name) => (name === '#1' ? new Promise(() => {}) : handled(name))
  await vi.advanceTimersByTimeAsync(RETRY_MS + DELIVERY_MAX_MS)
  expect(arrived).toEqual(['#2'])
})

it('a network that the target answers slowly does not hold up the others, and keeps its own order', async () => {
  const { direct } = opened()
  for (const [name, address] of [
    ['a1', '192.0.2.1'],
    ['a2', '192.0.2.1'],
    ['b1', '192.0.2.2'],
    ['a3', '192.0.2.1'],
  ])
    await direct(request(name!, address))!.respond()
  const slow = Promise.withResolvers<void>()
  behave = async (name) => {
    if (name === '#a1') await slow.promise
    return handled(name)
  }
  await vi.advanceTimersByTimeAsync(RETRY_MS + SLOW_MS)
  expect(arrived).toEqual(['#b1'])
  expect((await direct(request('b2', '192.0.2.2'))!.respond()).status).toBe(200)
  expect((await direct(request('a4', '192.0.2.1'))!.respond()).status).toBe(202)
  slow.resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect(arrived).toEqual(['#b1', '#b2', '#a1', '#a2', '#a3', '#a4'])
  expect((await direct(request('a5', '192.0.2.1'))!.respond()).status).toBe(200)
  expect(reports.filter(({ state }) => state === 'delivered')).toHaveLength(5)
})

it('a request that comes while the target is up is sent at once, whatever its answer', async () => {
  const { direct } = opened()
  behave = async () => badGateway(BROKEN)
  expect((await direct(request('1'))!.respond()).status).toBe(502)
  behave = async () => textResponse(500, 'no')
  expect((await direct(request('1'))!.respond()).status).toBe(500)
  expect(reports).toEqual([])
})

it('a body that breaks off leaves its room', async () => {
  const { direct } = opened()
  for (let at = 0; at <= HELD_SHARE; at += 1) {
    const next = async (): Promise<never> => {
      throw new Error('broken')
    }
    await expect(direct({ ...request('1'), body: { next } })!.respond()).rejects.toThrow('broken')
  }
  expect((await direct(request('2'))!.respond()).status).toBe(202)
})
