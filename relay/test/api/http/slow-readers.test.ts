// Clients that ask for much and read nothing: what the relay keeps for them is bounded, and they are cut.

import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { Lease, PublicStateResponse } from '@svc/protocol'
import { afterAll, beforeAll, describe, test as every, expect } from 'vitest'
import { atDepth, wholeOnly } from '../../../../tools/test-depth.ts'
import { RESPONSE_BYTES_PER_NETWORK_MAX } from '../../../src/core/api/http/body-writer.ts'
import { LIST_CACHE_MAX_BYTES } from '../../../src/core/api/http/list-cache.ts'
import { PIPELINED_REQUESTS_MAX } from '../../../src/core/api/http/open-responses.ts'
import { LIST_PAGE_BYTES } from '../../../src/core/api/http/pagination.ts'
import { API_WRITE_DEADLINE_MS } from '../../../src/core/http/write-timeouts.ts'
import { ROOT_HOST } from '../../support/relay.ts'
import { type RelayProcess, SOURCE_MAIN, startRelayProcess } from '../../support/relay-process.ts'

const test = wholeOnly(every, 'clock')

const SEED = join(import.meta.dirname, '../../support/seed-leases.ts')
const LEASES = 3_001
const READERS: number = atDepth(250, 80)
/** Each answer is some 3.9 MB, so that they are beyond what may wait in the relay several times over. */
/** The kernel takes a few megabytes for a client that does not read: with this everything else waits in the relay. */
const MUCH: string[] = ['/large.bin', ...Array(PIPELINED_REQUESTS_MAX - 1).fill('/api/state')]
/** Handshakes that the relay does not take for strain. */
const AT_ONCE = 10
const SLOW_BYTES_PER_MS = 80
const MIB = 1024 * 1024
/** For all readers of one source: their answers, the pages that these are made of, connections, and V8's garbage. */
const GROWTH_MAX_BYTES: number =
  RESPONSE_BYTES_PER_NETWORK_MAX + LIST_CACHE_MAX_BYTES + READERS * 100 * 1024 + 64 * MIB
/** From the last byte that was taken until the connection is cut: the deadline, and how often it is looked at. */
const CUT_MAX_MS: number = API_WRITE_DEADLINE_MS + 4_000
/** The kernel takes the last byte, and the relay looks, so much later on a machine that also runs other tests. */
const BUSY_MS = 10_000
/** Until a client that reads again has noticed that its connection was cut. */
const NOTICE_MS = 5_000

let directory: string
let relay: RelayProcess
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-slow-'))
  await writeFile(join(directory, 'large.bin'), Buffer.alloc(32 * MIB))
  relay = await startRelayProcess(
    { SVC_SITE_DIR: directory },
    { execArgv: [`--import=${SEED}`], main: SOURCE_MAIN },
  )
  const thumbnail = `data:image/png;base64,${'x'.repeat(8_000)}`
  await relay.register('seed', { metadata: { thumbnail }, ttl: 600 })
  // Thousands at once held it up.
  await setTimeout(2_000)
})
afterAll(async () => {
  await relay.close()
  await rm(directory, { recursive: true })
})

/** Asks, and reads nothing of the answer. */
async function ask(...paths: string[]): Promise<TLSSocket> {
  const socket = relay.tls(ROOT_HOST)
  await once(socket, 'secureConnect')
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: ${ROOT_HOST}:${relay.port}\r\n\r\n`)
  socket.write(requests.join(''))
  return socket
}

/** A client that does not read does not notice either. */
async function isCutAfter(ms: number, socket: TLSSocket): Promise<boolean> {
  await setTimeout(ms)
  socket.resume()
  const closed = new Promise<true>((resolve) => socket.once('close', () => resolve(true)))
  const isCut = socket.closed || (await Promise.race([closed, setTimeout(NOTICE_MS, false)]))
  socket.destroy()
  return isCut
}

/**
 * Takes {@link SLOW_BYTES_PER_MS} for longer than the deadline. The kernel, which has buffered 4 MB by then, takes new bytes of the
 * relay only every 16 s. @returns whether the connection is still there
 */
async function takesSlowly(socket: TLSSocket): Promise<boolean> {
  let taken = 0
  const from = performance.now()
  // By the clock: whether this process is busy or not, the relay sees the same rate.
  const timer = setInterval(() => {
    for (let bytes = socket.read(); bytes !== null; bytes = socket.read()) {
      taken += bytes.length
      if (taken >= (performance.now() - from) * SLOW_BYTES_PER_MS) break
    }
  }, 200)
  await setTimeout(CUT_MAX_MS)
  clearInterval(timer)
  const before = taken
  socket.on('data', (bytes) => (taken += bytes.length))
  await setTimeout(NOTICE_MS)
  const isThere = !socket.closed && taken > before
  socket.destroy()
  return isThere
}

async function walk(): Promise<Lease[][]> {
  const pages: Lease[][] = []
  for (let after: string | undefined = ''; after !== undefined; ) {
    const answer = await relay.call('GET', `/api/state?after=${after}`)
    expect(answer.status).toBe(200)
    const { leases, next } = answer.json.data as unknown as PublicStateResponse
    pages.push(leases)
    after = next
  }
  return pages
}

describe('readers that read nothing', () => {
  test('many of a list with thousands of large leases: the memory stays, all are cut, nobody else notices', async () => {
    await walk()
    // First, because readers of the same source get no more than their share together.
    const idle = isCutAfter(CUT_MAX_MS + BUSY_MS, await ask('/large.bin'))
    const slow = takesSlowly(await ask('/large.bin'))
    const before = await relay.memory()
    const readers: TLSSocket[] = []
    while (readers.length < READERS)
      readers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => ask(...MUCH)))))
    let most = 0
    for (let looks = 0; looks < 20; looks++) {
      most = Math.max(most, await relay.memory())
      expect(await relay.call('GET', '/api/healthz')).toMatchObject({ status: 200 })
      await setTimeout(100)
    }
    expect(most - before).toBeLessThan(GROWTH_MAX_BYTES)
    expect([await idle, await slow]).toEqual([true, true])
    // Those who were refused some answers have all of the others, and may ask for more.
    const areCut = await Promise.all(readers.map((reader) => isCutAfter(0, reader)))
    expect(areCut.filter(Boolean).length).toBeGreaterThan(0)
  })

  test('one who asks for more and more on one connection is cut', async () => {
    const socket = await ask(...Array(PIPELINED_REQUESTS_MAX + 1).fill('/large.bin'))
    expect(await isCutAfter(0, socket)).toBe(true)
    expect(await isCutAfter(0, await ask(...Array(PIPELINED_REQUESTS_MAX).fill('/api/healthz')))).toBe(false)
  })
})

test('a walk over the pages has every lease once, and no page is large', async () => {
  const pages = await walk()
  const names = pages.flat().map(({ name }) => name)
  expect([names.length, new Set(names).size]).toEqual([LEASES, LEASES])
  expect(pages.length).toBeGreaterThan(50)
  for (const page of pages) expect(JSON.stringify(page).length).toBeLessThanOrEqual(LIST_PAGE_BYTES)
})
