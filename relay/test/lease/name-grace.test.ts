// A friendly name stays its owner's for NAME_GRACE after its lease, within a share for each account and network.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../../src/core/clock.ts'
import { formatJournalLine, parseJournal } from '../../src/core/lease/journal-format.ts'
import {
  GRACE_NAMES_MAX,
  GRACE_NAMES_PER_ACCOUNT_MAX,
  GRACE_NAMES_PER_NETWORK_MAX,
} from '../../src/core/lease/kept-names.ts'
import { NAME_RESERVATION_MS, type Reservation, Reservations } from '../../src/core/lease/reservations.ts'
import { readSettings } from '../../src/index.ts'
import { newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'

const HOUR_MS = 3_600_000
const GRACE_MS = 24 * HOUR_MS

describe('names without a lease', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const create = (changed?: (key: string, reservation: Reservation) => void): Reservations =>
    new Reservations(changed, { graceMs: GRACE_MS })
  const leave = (reservations: Reservations, key: string, network: string): void => {
    reservations.hold(key, { hostname: `${key}.test`, expiresAt: now() + 1000, network })
    reservations.release(key)
    vi.advanceTimersByTime(1)
  }
  const kept = (reservations: Reservations, keys: string[]): string[] =>
    keys.filter((key) => reservations.ownerOf(`${key}.test`) === key)
  const keysOf = (count: number, keyOf: (number: number) => string): string[] =>
    Array.from({ length: count }, (_, number) => keyOf(number))

  test('wait for the whole grace, and are free then', () => {
    const reservations = create()
    leave(reservations, 'demo:0xaa', '192.0.2.1')
    vi.advanceTimersByTime(GRACE_MS - 2)
    expect(reservations.holderOf('demo:0xaa.test')).toBe('demo:0xaa')
    vi.advanceTimersByTime(1)
    expect(reservations.holderOf('demo:0xaa.test')).toBeUndefined()
    leave(reservations, 'other:0xaa', '192.0.2.1')
    expect(reservations.size).toBe(1)
  })

  test('have a share for each account and wide network: a squatter makes room from its own, and keeps those ten minutes', () => {
    const reservations = create()
    leave(reservations, 'victim:0xaa', '198.51.100.200')
    const ofAccount = keysOf(100, (number) => `name${number}:0xcc`)
    for (const [number, key] of ofAccount.entries()) leave(reservations, key, `203.0.${number}.1`)
    const ofNetwork = keysOf(500, (number) => `taken${number}:0x${number}`)
    for (const key of ofNetwork) leave(reservations, key, '198.51.100.1')
    const ofPrefix = keysOf(500, (number) => `wide${number}:0x${number}`)
    for (const [number, key] of ofPrefix.entries())
      leave(reservations, key, `2001:db8:1:${number.toString(16)}`)
    const all = [...ofAccount, ...ofNetwork, ...ofPrefix, 'victim:0xaa']
    expect(kept(reservations, all)).toEqual(all)
    vi.advanceTimersByTime(NAME_RESERVATION_MS)
    expect(kept(reservations, ofAccount)).toEqual(ofAccount.slice(-GRACE_NAMES_PER_ACCOUNT_MAX))
    expect(kept(reservations, ofNetwork)).toEqual(ofNetwork.slice(1 - GRACE_NAMES_PER_NETWORK_MAX))
    expect(kept(reservations, ofPrefix)).toHaveLength(GRACE_NAMES_PER_NETWORK_MAX)
    expect(kept(reservations, ['victim:0xaa'])).toHaveLength(1)
  })

  test('are bounded for all networks together, and the oldest wait for ten minutes alone', () => {
    const reservations = create()
    const network = (number: number): string =>
      `2001:${(number >> 16).toString(16)}:${(number & 65535).toString(16)}:1`
    for (let number = 0; number <= GRACE_NAMES_MAX; number++) {
      const [key, hostname] = [`k:0x${number}`, `${number}.test`]
      reservations.restore(key, { hostname, expiresAt: now(), network: network(number) })
    }
    vi.advanceTimersByTime(NAME_RESERVATION_MS)
    expect([0, 1, GRACE_NAMES_MAX].map((number) => reservations.holderOf(`${number}.test`))).toEqual([
      undefined,
      'k:0x1',
      `k:0x${GRACE_NAMES_MAX}`,
    ])
  })

  test('have the same shares after a restart, and the file has no single address', () => {
    const journal = new Map<string, Reservation>()
    const reservations = create((key, reservation) => {
      journal.delete(key)
      journal.set(key, reservation)
    })
    const keys = keysOf(GRACE_NAMES_PER_NETWORK_MAX + 3, (number) => `name${number}:0x${number}`)
    for (const key of keys) leave(reservations, key, '198.51.100.7')
    const lines = [...journal].map((line) => formatJournalLine(...line)).join('')
    expect(lines).not.toContain('198.51.100.7')
    const restarted = create()
    for (const entry of parseJournal(Buffer.from(lines)).entries) restarted.restore(...entry)
    vi.advanceTimersByTime(NAME_RESERVATION_MS)
    expect(kept(restarted, keys)).toEqual(keys.slice(3))
    expect(kept(restarted, keys)).toEqual(kept(reservations, keys))
  })
})

describe('NAME_GRACE', () => {
  let relay: TestRelay | undefined
  afterEach(async () => {
    await relay?.close()
    relay = undefined
  })

  /** The relay starts again as if the lease had ended that much earlier. */
  async function restartAfter(ms: number): Promise<void> {
    await relay!.stop()
    const path = join(relay!.directory, 'leases.jsonl')
    const earlier = (_: string, time: string): string =>
      `"expires_at":"${new Date(Date.parse(time) - ms).toISOString()}"`
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll(/"expires_at":"([^"]+)"/g, earlier))
    relay = await startTestRelay({ NAME_GRACE: '6h' }, { directory: relay!.directory })
  }

  test('keeps a name that nobody has used for hours for its owner alone, over a restart (protocol §4.4.5)', async () => {
    relay = await startTestRelay({ NAME_GRACE: '6h' })
    const account = newAccount()
    const lease = await relay.register('waiting', { account })
    await relay.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    await restartAfter(5 * HOUR_MS)
    await expect(relay.register('waiting')).rejects.toThrow('hostname_conflict')
    const again = await relay.register('waiting', { account })
    expect(again.hostname).toBe(lease.hostname)
    await relay.call('POST', '/sdk/unregister', { access_token: again.access_token })
    await restartAfter(7 * HOUR_MS)
    const next = await relay.register('waiting')
    expect(next.hostname).toBe(lease.hostname)
    expect(next.previous_owner).toBeDefined()
  })

  test.each(['9m', '400d', '1 day', '-1'])(
    'is a duration from ten minutes to a year, and not %j',
    (NAME_GRACE) => {
      expect(() => readSettings({ SVC_URL: 'https://relay.example', NAME_GRACE })).toThrow('NAME_GRACE')
    },
  )

  test.each([
    ['600', 600_000],
    ['90m', 5_400_000],
    ['2d', 172_800_000],
  ])('of %j is %d ms', (NAME_GRACE, ms) => {
    expect(readSettings({ SVC_URL: 'https://relay.example', NAME_GRACE }).nameGraceMs).toBe(ms)
  })
})
