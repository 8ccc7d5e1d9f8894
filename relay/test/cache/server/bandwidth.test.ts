// The operator's bandwidth limit of an identity, for visitors of its stored files: shared by all of them, and changed while they load.

import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { describeVariants } from '../../../../tools/describe-variants.ts'
import { curl } from '../../../../tools/programs/curl.ts'
import { Bandwidth } from '../../../src/core/rate-limit/bandwidth.ts'
import {
  LIMITED_RESPONSE_BYTES,
  LIMITED_WAIT_MAX_MS,
} from '../../../src/features/static-cache/server/limits.ts'
import { type CachedSite, HOSTNAME, startCachedSite } from './cached-site.ts'

const WAIT = { timeout: 60_000 }
const KB = 1000
const FILES = {
  'index.html': 'stored',
  'film.webm': randomBytes(24_000 * KB),
  'photo.png': randomBytes(100 * KB),
}

let site: CachedSite
beforeEach(async () => {
  site = await startCachedSite()
  await site.snapshots.put(FILES)
})
afterEach(() => site.close())

function limitTo(bytesPerSecond: number): void {
  site.limit.bytesPerSecond = bytesPerSecond
}

async function get(path: string, ...args: string[]): Promise<Buffer> {
  const at = `${HOSTNAME}:${site.port}`
  return await curl(site.caFile, '--resolve', `${at}:127.0.0.1`, ...args, `https://${at}${path}`)
}

/** The bytes that may be sent at a rate since a time, with the second that accumulates. */
function allowed(bytesPerSecond: number, since: number): number {
  return ((performance.now() - since) / 1000 + 1) * bytesPerSecond
}

describeVariants('with curl %s', ['--http2', '--http1.1'], (version) => {
  test('all visitors together get no more than the limit, and each gets the whole file', async () => {
    const rate = 200 * KB
    limitTo(rate)
    const start = performance.now()
    const bodies = await Promise.all([1, 2, 3, 4].map(() => get('/photo.png', version)))
    expect(4 * FILES['photo.png'].length).toBeLessThanOrEqual(allowed(rate, start))
    for (const body of bodies) expect(body.equals(FILES['photo.png'])).toBe(true)
    // curl has the last byte before the relay hears that it was taken.
    await vi.waitFor(() => expect(site.snapshots.borrowed).toBe(0), WAIT)
    expect(site.limit.sentBytes).toBe(4 * FILES['photo.png'].length)
  })

  test('a limit that is lifted holds no more for a download that has begun', async () => {
    // With this one it would take more than ten minutes.
    limitTo(16 * KB)
    const body = get('/film.webm', version)
    await vi.waitFor(() => expect(site.limit.sentBytes).toBeGreaterThan(0), WAIT)
    limitTo(0)
    expect((await body).equals(FILES['film.webm'])).toBe(true)
  })

  test('a limit that is lifted ends the wait of a response', async () => {
    // A byte a second: the head alone would wait for minutes.
    limitTo(1)
    const body = get('/photo.png', version)
    await vi.waitFor(() => expect(site.limit.bandwidth.spend(0)).toBeGreaterThan(100_000), WAIT)
    limitTo(0)
    expect((await body).equals(FILES['photo.png'])).toBe(true)
  })

  test('a new limit holds for a download that has begun', async () => {
    const rate = 500 * KB
    // curl stops reading, so that most of the file is still here.
    const body = get('/film.webm', version, '--limit-rate', '8M')
    await vi.waitFor(() => expect(site.limit.sentBytes).toBeGreaterThan(0), WAIT)
    limitTo(rate)
    const [before, start] = [site.limit.sentBytes, performance.now()]
    await vi.waitFor(() => expect(site.limit.sentBytes).toBeGreaterThan(before + 1024 * KB), WAIT)
    // A piece may be on its way already.
    expect(site.limit.sentBytes - before).toBeLessThanOrEqual(allowed(rate, start) + 256 * 1024)
    limitTo(0)
    expect(await body).toHaveLength(FILES['film.webm'].length)
  })
})

test('responses without content count, too', async () => {
  const [rate, count] = [20 * KB, 100]
  limitTo(rate)
  const start = performance.now()
  const heads = String(await get(`/photo.png?[1-${count}]`, '--http1.1', '--head'))
  expect(heads.match(/HTTP\/1\.1 200 /g)).toHaveLength(count)
  expect(count * LIMITED_RESPONSE_BYTES).toBeLessThanOrEqual(allowed(rate, start))
})

test('a request that would wait too long is told to come again', async () => {
  limitTo(KB)
  site.limit.bandwidth.spend(2 * LIMITED_WAIT_MAX_MS)
  expect(String(await get('/', '-i', '--http1.1'))).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 30\r\n/)
  limitTo(0)
  expect(String(await get('/'))).toBe('stored')
})

test('a visitor who leaves while waiting takes nothing from the others, and holds no file', async () => {
  const [rate, owedMs] = [20, LIMITED_WAIT_MAX_MS * 0.7]
  limitTo(rate)
  site.limit.bandwidth.spend((owedMs / 1000 + 1) * rate)
  const visitor = await site.tls()
  visitor.write(`GET / HTTP/1.1\r\nHost: ${HOSTNAME}\r\n\r\n`)
  await vi.waitFor(() => expect(site.limit.bandwidth.spend(0)).toBeGreaterThan(owedMs), WAIT)
  visitor.destroy()
  await vi.waitFor(() => expect(site.limit.bandwidth.spend(0)).toBeLessThan(owedMs), WAIT)
  await vi.waitFor(() => expect(site.snapshots.borrowed).toBe(0), WAIT)
})

test('bytes that are given back are there for the next', () => {
  const bandwidth = new Bandwidth(() => KB)
  bandwidth.spend(100 * KB)
  bandwidth.giveBack(99 * KB)
  expect(bandwidth.spend(0)).toBeLessThan(KB)
})
