// history.jsonl: what a restart still knows of the traffic and the history of sites, and a file that is damaged or too large.

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { LeaseEvent, PolicyLeaseResponse } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { describeVariants } from '../../../tools/describe-variants.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import { LeaseHistory } from '../../src/core/lease/lease-history.ts'
import { createLog } from '../../src/core/log/log.ts'
import { WriteHealth } from '../../src/core/storage/write-health.ts'
import { LeaseTraffic } from '../../src/core/traffic/lease-traffic.ts'
import { HISTORY_FILE, HISTORY_WRITE_MS, SiteHistoryFile } from '../../src/core/traffic/site-history-file.ts'
import { put, visit } from '../support/cache-client.ts'
import { newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'

const log = createLog('silent')
const HOUR_MS = 3_600_000

let directory: string
let health: WriteHealth
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-history-'))
  health = new WriteHealth(log)
})
afterEach(async () => {
  vi.useRealTimers()
  health.close()
  await rm(directory, { recursive: true })
})

const text = () => readFile(join(directory, HISTORY_FILE), 'utf8')
const leaseOf = (name: string): Lease =>
  ({ identityKey: `${name}:0x1`, registeredFrom: '192.0.2.0', clientIp: '192.0.2.0' }) as Lease

interface Known {
  traffic: LeaseTraffic
  history: LeaseHistory
  file: SiteHistoryFile
  close(): Promise<void>
}

/** What a relay knows that starts with the file. */
async function start(maxBytes?: number, now?: () => number): Promise<Known> {
  const traffic = new LeaseTraffic(now === undefined ? {} : { now })
  const history = new LeaseHistory({ leases: { onChange: () => {} }, routing: () => 'allowed' })
  const parts = { directory, traffic, history, health, log }
  const file = await SiteHistoryFile.open({ ...parts, ...(maxBytes !== undefined && { maxBytes }) })
  return {
    traffic,
    history,
    file,
    close: async () => {
      traffic.close()
      history.close()
      await file.close()
    },
  }
}

function ban({ history }: Known, name: string): void {
  const identity_key = `${name}:0x1`
  const made = { identity_key, is_banned: true, reason: 'spam' }
  const undo = { identity_key, is_banned: false }
  history.decided({ kind: 'lease', made, undo }, new Date().toISOString(), 'ana')
}

describe('after a restart', () => {
  test('the sums of each hour, the visitors and the events are as before', async () => {
    const before = await start()
    for (const network of ['198.51.100.7', '198.51.100.8', '198.51.100.8'])
      before.traffic.begin(leaseOf('demo'), network)
    before.traffic.carry(leaseOf('demo'), 1_000, 20_000)
    ban(before, 'demo')
    await before.close()
    const after = await start()
    expect(after.traffic.of('demo:0x1')).toMatchObject({
      open_connections: 0,
      day: { received_bytes: 1_000, sent_bytes: 20_000, connections: 3, visitors: 2 },
    })
    expect(after.traffic.hoursOf('demo:0x1')).toEqual(before.traffic.hoursOf('demo:0x1'))
    expect(after.traffic.all.day).toEqual(before.traffic.all.day)
    expect(after.history.of('demo:0x1')).toEqual(before.history.of('demo:0x1'))
    after.traffic.carry(leaseOf('demo'), 1, 2)
    expect(after.traffic.of('demo:0x1')?.day).toMatchObject({ received_bytes: 1_001, sent_bytes: 20_002 })
    await after.close()
    expect(await text()).not.toContain('198.51.100')
    expect((await stat(join(directory, HISTORY_FILE))).mode & 0o077).toBe(0)
  })

  test('hours that are over do not count, and none of the future', async () => {
    let hours = 500_000
    const now = (): number => hours * HOUR_MS
    const before = await start(undefined, now)
    before.traffic.carry(leaseOf('demo'), 1, 0)
    hours += 20
    before.traffic.carry(leaseOf('demo'), 10, 0)
    await before.close()
    const receivedAt = async (at: number): Promise<number | undefined> => {
      hours = at
      const after = await start(undefined, now)
      await after.close()
      return after.traffic.of('demo:0x1')?.day.received_bytes
    }
    expect(await receivedAt(500_023)).toBe(11)
    expect(await receivedAt(500_024)).toBe(10)
    expect(await receivedAt(500_010)).toBe(1)
  })
})

describe('the file', () => {
  test('is written when something has changed, at most every minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const known = await start()
    await vi.advanceTimersByTimeAsync(HISTORY_WRITE_MS)
    known.traffic.carry(leaseOf('demo'), 1, 2)
    await vi.advanceTimersByTimeAsync(HISTORY_WRITE_MS - 1)
    expect(await readdir(directory)).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    while (!(await readdir(directory)).includes(HISTORY_FILE)) await setImmediate()
    await known.close()
    const { mtimeMs } = await stat(join(directory, HISTORY_FILE))
    await (await start()).close()
    expect((await stat(join(directory, HISTORY_FILE))).mtimeMs).toBe(mtimeMs)
  })

  test('that is damaged costs only what is damaged', async () => {
    const before = await start()
    for (const name of ['one', 'two', 'three']) {
      before.traffic.carry(leaseOf(name), 7, 7)
      ban(before, name)
    }
    await before.close()
    const lines = (await text()).split('\n')
    const at = lines.findIndex((line) => line.includes('"two:0x1"'))
    lines[at] = `${lines[at]?.slice(0, 40)}`
    const odd = [
      '{"identity_key":"odd:0x1","hours":[[1e400,-1,"x"]]}',
      `{"identity_key":"odd:0x1","hours":[[${Math.floor(Date.now() / HOUR_MS)},1,1,1,"${'__'.repeat(200)}"]]}`,
      `{"identity_key":"${'x'.repeat(300)}:0x1","hours":[]}`,
      'null',
      '[]',
      '\u0000'.repeat(70_000),
    ]
    await writeFile(join(directory, HISTORY_FILE), [...odd, ...lines].join('\n'))
    const after = await start()
    const known = (name: string): unknown[] => [
      after.traffic.of(`${name}:0x1`)?.day.received_bytes,
      after.history.of(`${name}:0x1`).length,
    ]
    expect(['one', 'two', 'three', 'odd'].map(known)).toEqual([
      [7, 1],
      [undefined, 0],
      [7, 1],
      [undefined, 0],
    ])
    await after.close()
  })

  test('is bounded: the sites are left out of which nothing was heard for longest', async () => {
    let hours = 500_000
    const now = (): number => hours * HOUR_MS
    const maxBytes = 4_096
    const before = await start(maxBytes, now)
    for (let number = 0; number < 100; number++) {
      if (number % 10 === 0) hours += 1
      before.traffic.carry(leaseOf(`site-${number}`), 1, 1)
    }
    await before.close()
    expect((await stat(join(directory, HISTORY_FILE))).size).toBeLessThanOrEqual(maxBytes)
    const after = await start(maxBytes, now)
    expect(after.traffic.of('site-99:0x1')).toBeDefined()
    expect(after.traffic.of('site-0:0x1')).toBeUndefined()
    expect(after.traffic.all.day.received_bytes).toBe(100)
    await after.close()
    // One that is larger is not read.
    await writeFile(join(directory, HISTORY_FILE), 'x'.repeat(maxBytes + 1))
    const none = await start(maxBytes, now)
    expect(none.traffic.size).toBe(0)
    await none.close()
  })

  test('takes no room of a full disk more often than any other time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const known = await start()
    known.traffic.carry(leaseOf('demo'), 1, 2)
    await rm(directory, { recursive: true })
    await writeFile(directory, 'no directory')
    await vi.advanceTimersByTimeAsync(HISTORY_WRITE_MS)
    while (health.failures === 0) await setImmediate()
    await vi.advanceTimersByTimeAsync(HISTORY_WRITE_MS - 1)
    for (let turns = 0; turns < 100; turns++) await setImmediate()
    expect(health.failures).toBe(1)
    await rm(directory)
    await vi.advanceTimersByTimeAsync(1)
    while (health.failing.length > 0) await setImmediate()
    expect(await readdir(directory)).toEqual([HISTORY_FILE])
    await known.close()
  })

  test('that cannot be written is no reason to end, and is said', async () => {
    await writeFile(join(directory, `${HISTORY_FILE}.svc-tmp`), '')
    await rm(join(directory, `${HISTORY_FILE}.svc-tmp`))
    const known = await start()
    known.traffic.carry(leaseOf('demo'), 1, 2)
    await rm(directory, { recursive: true })
    await writeFile(directory, 'no directory')
    await known.close()
    expect(health.failing).toEqual([HISTORY_FILE])
  })
})

describeVariants('at a relay with %s processes', ['1', '2'], (workers) => {
  const ADMIN_TOKEN = 'an-admin-token-of-32-characters!'
  let relay: TestRelay
  afterEach(() => relay.stop())
  const startRelay = async (): Promise<void> => {
    const env = { ADMIN_TOKEN, STATIC_CACHE_ENABLED: 'true', SVC_WORKERS: workers }
    relay = await startTestRelay(env, { directory })
  }
  const about = async (key: string): Promise<PolicyLeaseResponse> => {
    const Authorization = `Bearer ${ADMIN_TOKEN}`
    const path = `/api/policy/lease?identity_key=${encodeURIComponent(key)}`
    return (await relay.call('GET', path, undefined, { Authorization })).json
      .data as unknown as PolicyLeaseResponse
  }

  test('protocol §20.2.12: visits of stored files count, also in the history after a restart', async () => {
    await startRelay()
    const account = newAccount()
    const key = `stored:${account.address.toLowerCase()}`
    const site = await relay.register('stored', { account, cache: true, cache_ttl: 600 })
    const content = 'x'.repeat(100_000)
    expect(await put(relay, site, { 'index.html': content })).toMatchObject({ status: 200 })
    expect(await visit(relay, site)).toMatchObject({ status: 200, text: content })
    await expect
      .poll(async () => (await about(key)).traffic, { timeout: 30_000 })
      .toMatchObject({ open_connections: 0, day: { connections: 1, visitors: 1 } })
    const { traffic, events } = await about(key)
    expect(traffic?.day.sent_bytes).toBeGreaterThan(content.length)
    expect(traffic?.day.received_bytes).toBeGreaterThan(100)
    await relay.stop()
    await startRelay()
    const after = await about(key)
    expect(after.traffic?.day).toEqual(traffic?.day)
    const kinds = (list: readonly LeaseEvent[]): string[] => list.map(({ kind }) => kind)
    expect(kinds(after.events)).toEqual(['ended', ...kinds(events)])
  })
})
