// Tests the times at which the SDK looks at the files of the option `cache`, and its pauses for a relay that fails.

import { CACHE_UPLOAD_DEADLINE_MS } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import { CacheKeeper } from '../../src/cache/cache-keeper.ts'
import type { CacheFiles, CacheStatus } from '../../src/cache/cache-options.ts'
import {
  CACHE_LOOK_MS,
  CACHE_PUT_DEADLINE_MS,
  CACHE_RETRY_FIRST_MS,
  CACHE_RETRY_MAX_MS,
} from '../../src/cache/limits.ts'
import type { Registration } from '../../src/control/lease.ts'
import type { LeaseKeeper } from '../../src/control/lease-keeper.ts'
import { CONTROL_DEADLINE_MS } from '../../src/control/limits.ts'
import { RelayClient } from '../../src/control/relay-client.ts'
import type { SvcError } from '../../src/errors.ts'
import { RELAY } from '../support/fake-relay.ts'

const HERE = { present: true, expires_at: '2030-01-02T03:04:05Z' }
const LIMITS = { maxExposureBytes: 100_000_000, maxObjectBytes: 10_000 }

let calls: string[]
let answer: (method: string) => Response
let files: CacheFiles
let statuses: CacheStatus[]
let errors: SvcError[]
let isOnline: boolean
let lease: Pick<Registration, 'accessToken' | 'cacheLimits'> | undefined
let keeper: CacheKeeper

const ok = (data: object): Response => Response.json({ ok: true, data })
const failing = (status: number, headers = {}): Response => new Response('busy\n', { status, headers })

let digest: MockInstance<SubtleCrypto['digest']>
beforeEach(() => {
  digest = vi.spyOn(crypto.subtle, 'digest')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  calls = []
  answer = () => ok(HERE)
  files = { 'index.html': 'hello' }
  statuses = []
  errors = []
  isOnline = true
  lease = { accessToken: 'access.1', cacheLimits: LIMITS }
  const client = new RelayClient(RELAY, async (_, { method }) => {
    calls.push(method)
    return answer(method)
  })
  keeper = new CacheKeeper({
    client,
    keeper: {
      get lease() {
        return lease
      },
    } as unknown as LeaseKeeper,
    files: () => files,
    index: 'index.html',
    fallback: true,
    isOnline: () => isOnline,
    changed: (status) => statuses.push(status),
    onError: (error) => errors.push(error),
  })
})
afterEach(() => {
  keeper.stop()
  vi.useRealTimers()
  digest.mockRestore()
})

const { setImmediate: realImmediate } = globalThis
const TURNS = 10
/** Waits for WebCrypto, which works in a thread of its own, outside of the fake timers, and for what follows from it. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    await Promise.allSettled(digest.mock.results.map(({ value }) => value))
    await new Promise((resolve) => realImmediate(resolve))
  }
}

/** Lets `ms` pass, then what began meanwhile come to its end. @returns the requests of that time */
async function after(ms: number): Promise<string[]> {
  const before = calls.length
  await vi.advanceTimersByTimeAsync(ms)
  await settled()
  return calls.slice(before)
}

describe('it looks', () => {
  it('again every 30 s, and asks the relay whether the files are still there', async () => {
    await keeper.refresh()
    expect(await after(CACHE_LOOK_MS - 1)).toEqual([])
    expect(await after(1)).toEqual(['POST'])
    expect(await after(CACHE_LOOK_MS)).toEqual(['POST'])
    expect(statuses).toEqual([HERE])
  })

  it('no more after it was stopped, and again when the site is back', async () => {
    await keeper.refresh()
    keeper.stop()
    expect(await after(10 * CACHE_LOOK_MS)).toEqual([])
    keeper.check()
    expect(await after(0)).toEqual(['POST'])
    expect(await after(CACHE_LOOK_MS)).toEqual(['POST'])
  })

  it('not while the site is away from its relay, or has no lease', async () => {
    await keeper.refresh()
    isOnline = false
    expect(await after(10 * CACHE_LOOK_MS)).toEqual([])
    isOnline = true
    lease = undefined
    keeper.check()
    expect(await after(10 * CACHE_LOOK_MS)).toEqual([])
    expect(errors).toEqual([])
  })

  it('once more for those that ask while it looks, however many they are', async () => {
    const looks = Array.from({ length: 5 }, () => keeper.refresh())
    await settled()
    await Promise.all(looks)
    expect(calls).toEqual(['POST'])
    const first = keeper.refresh()
    await Promise.resolve()
    await Promise.resolve()
    const second = [keeper.refresh(), keeper.refresh()]
    await Promise.all([first, ...second])
    expect(calls).toEqual(['POST', 'POST', 'POST'])
  })

  it('at a file that is wrong every 30 s', async () => {
    files = {}
    await keeper.refresh()
    files = { 'index.html': 'hello' }
    expect(await after(CACHE_LOOK_MS - 1)).toEqual([])
    expect(await after(1)).toEqual(['POST'])
    expect(errors).toHaveLength(1)
  })

  it('no more at files that are listed while they are removed, however long that takes', async () => {
    const listed = Promise.withResolvers<CacheFiles>()
    files = listed.promise as unknown as CacheFiles
    const refreshed = keeper.refresh()
    await settled()
    await keeper.remove()
    expect(calls).toEqual(['DELETE'])
    listed.resolve({ 'index.html': 'hello' })
    await refreshed
    expect(await after(10 * CACHE_LOOK_MS)).toEqual([])
    expect(calls).toEqual(['DELETE'])
    expect(errors).toEqual([])
  })

  it('not by itself after the files were removed', async () => {
    await keeper.refresh()
    await keeper.remove()
    keeper.check()
    expect(await after(10 * CACHE_LOOK_MS)).toEqual([])
    await keeper.refresh()
    expect(await after(CACHE_LOOK_MS)).toEqual(['POST'])
    expect(calls).toEqual(['POST', 'DELETE', 'POST', 'POST'])
  })
})

it('gives an upload more time than the relay does, whose answer then says why it failed', async () => {
  const deadlines = vi.spyOn(AbortSignal, 'timeout')
  answer = (method) => ok(method === 'PUT' ? HERE : { present: false })
  await keeper.refresh()
  expect(calls).toEqual(['POST', 'PUT'])
  expect(deadlines.mock.calls.flat()).toEqual([CONTROL_DEADLINE_MS, CACHE_PUT_DEADLINE_MS])
  expect(CACHE_PUT_DEADLINE_MS).toBeGreaterThan(CACHE_UPLOAD_DEADLINE_MS)
  deadlines.mockRestore()
})

describe('a relay that fails', () => {
  it.each([
    ['the whole pause', 1],
    ['half of it', 0],
  ])('is asked again after pauses that double, up to five minutes: %s', async (_, random) => {
    const chance = vi.spyOn(Math, 'random').mockReturnValue(random)
    answer = () => failing(503)
    await keeper.refresh()
    for (let step = CACHE_RETRY_FIRST_MS; step < 4 * CACHE_RETRY_MAX_MS; step *= 2) {
      const pause = Math.min(step, CACHE_RETRY_MAX_MS) * (0.5 + random / 2)
      expect(await after(pause - 1)).toEqual([])
      expect(await after(1)).toEqual(['POST'])
    }
    expect(errors).toMatchObject([{ code: 'cache_unavailable', cause: { code: 'relay_unreachable' } }])
    answer = () => ok(HERE)
    await keeper.refresh()
    expect(await after(CACHE_LOOK_MS - 1)).toEqual([])
    expect(await after(1)).toEqual(['POST'])
    chance.mockRestore()
  })

  it('is told of at once when it refuses, and when it fails twice (protocol §15.1.6)', async () => {
    answer = () => failing(503)
    await keeper.refresh()
    expect(errors).toEqual([])
    answer = () => failing(403)
    await keeper.refresh()
    expect(errors).toHaveLength(1)
    answer = () => ok(HERE)
    await keeper.refresh()
    answer = () => failing(503)
    await keeper.refresh()
    expect(errors).toHaveLength(1)
    await keeper.refresh()
    expect(errors).toHaveLength(2)
  })

  it('is not asked before the time that it said, whoever asks', async () => {
    answer = () => failing(503, { 'Retry-After': '60' })
    await keeper.refresh()
    const refreshed = keeper.refresh()
    expect(await after(59_999)).toEqual([])
    expect(await after(1)).toEqual(['POST'])
    await refreshed
  })

  it('that is to wait is left alone when the site is closed meanwhile', async () => {
    answer = () => failing(503, { 'Retry-After': '60' })
    await keeper.refresh()
    const refreshed = keeper.refresh()
    await settled()
    keeper.stop()
    await refreshed
    expect(await after(10 * CACHE_RETRY_MAX_MS)).toEqual([])
  })

  it('that drops the files again and again gets them again and again, less and less often', async () => {
    const dropping = (method: string): Response => ok(method === 'PUT' ? HERE : { present: false })
    answer = dropping
    await keeper.refresh()
    let uploads = 0
    for (let look = 0; look < 120; look++)
      uploads += (await after(CACHE_LOOK_MS)).filter((call) => call === 'PUT').length
    // In an hour: at most every five minutes after the first few.
    expect(uploads).toBeGreaterThan(8)
    expect(uploads).toBeLessThan(40)
    answer = () => ok(HERE)
    await keeper.refresh()
    expect(await after(CACHE_LOOK_MS)).toEqual(['POST'])
  })
})

it('takes a manifest of 1 MiB, and refuses a larger one', async () => {
  const paths = (chars: number): CacheFiles =>
    Object.fromEntries([
      ['index.html', ''],
      ...Array.from({ length: 1500 }, (_, n) => [`${n}`.padStart(chars, 'x'), '']),
    ])
  files = paths(500)
  await keeper.refresh()
  expect(calls).toEqual(['POST'])
  files = paths(900)
  await keeper.refresh()
  expect(calls).toEqual(['POST'])
  expect(errors).toMatchObject([
    { code: 'cache_files_invalid', message: /^the list of files has .* 1048576 are/ },
  ])
})
