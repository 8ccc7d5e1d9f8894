// A name stays with the identity that has a certificate for it for as long as that is valid, also across a restart.

import { X509Certificate } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RegisterResponse } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../../../src/core/clock.ts'
import { formatJournalLine, parseJournal } from '../../../src/core/lease/journal-format.ts'
import {
  CERTIFIED_NAMES_PER_ACCOUNT_MAX,
  CERTIFIED_NAMES_PER_NETWORK_MAX,
} from '../../../src/core/lease/kept-names.ts'
import { CERTIFIED_STEP_MS } from '../../../src/core/lease/lease-registry.ts'
import {
  CERTIFIED_NAMES_MAX,
  NAME_RESERVATION_MS,
  type Reservation,
  Reservations,
} from '../../../src/core/lease/reservations.ts'
import { certificateRequest } from '../../support/certificate-request.ts'
import { newAccount, startTestRelay, type TestRelay } from '../../support/relay.ts'

/** What keeps a name for longer is its certificate. */
const SHORT_GRACE = { NAME_GRACE: '10m' }
const DAY_MS = 86_400_000

describe('a relay that was restarted', () => {
  let relay: TestRelay | undefined
  afterEach(async () => {
    const directory = relay?.directory
    await relay?.stop()
    if (directory !== undefined) await rm(directory, { recursive: true })
  })
  const journal = (): string => join(relay!.directory, 'leases.jsonl')
  /** Stops the relay, sets the times of its journal back, and starts it again. */
  const restartAfter = async (ms: number): Promise<void> => {
    await relay!.stop()
    const earlier = (_: string, name: string, time: string): string =>
      `"${name}":"${new Date(Date.parse(time) - ms).toISOString()}"`
    const text = await readFile(journal(), 'utf8')
    await writeFile(journal(), text.replaceAll(/"(expires_at|certified_until)":"([^"]+)"/g, earlier))
    relay = await startTestRelay(SHORT_GRACE, { directory: relay!.directory })
  }
  const conflict = /hostname_conflict/

  test('gives the name to nobody else before the certificate has ended (protocol §4.4.5, §11.1.4)', async () => {
    relay = await startTestRelay(SHORT_GRACE)
    const account = newAccount()
    const lease = await relay.register('named', { account })
    const csr = certificateRequest([lease.hostname]).toString('base64')
    const answer = await relay.call(
      'POST',
      '/sdk/certificate',
      { csr },
      { 'X-Svc-Access-Token': lease.access_token },
    )
    const { chain } = answer.json.data as unknown as { chain: string }
    const left = new X509Certificate(chain).validToDate.getTime() - Date.now()
    expect(left).toBeLessThanOrEqual(DAY_MS + 5 * 60_000)
    await relay.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    await restartAfter(2 * NAME_RESERVATION_MS)
    await expect(relay.register('named')).rejects.toThrow(conflict)
    // The identity has the name as before, and a lease without a new certificate does not give it up.
    const again = await relay.register('named', { account })
    expect(again.hostname).toBe(lease.hostname)
    await relay.call('POST', '/sdk/unregister', { access_token: again.access_token })
    await restartAfter(2 * NAME_RESERVATION_MS)
    await expect(relay.register('named')).rejects.toThrow(conflict)
    await restartAfter(left + CERTIFIED_STEP_MS)
    expect((await relay.register('named')).hostname).toBe(lease.hostname)
  })

  test('tells the next owner of a name when the one before left it, and nobody else', async () => {
    relay = await startTestRelay(SHORT_GRACE)
    const account = newAccount()
    const leave = (lease: RegisterResponse) =>
      relay!.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    const first = await relay.register('handed', { account })
    await leave(first)
    const again = await relay.register('handed', { account })
    await leave(again)
    const left = Date.now() - 2 * NAME_RESERVATION_MS
    await restartAfter(2 * NAME_RESERVATION_MS)
    const next = await relay.register('handed')
    expect(next.hostname).toBe(first.hostname)
    expect(Object.keys(next.previous_owner!)).toEqual(['until'])
    expect(Math.abs(Date.parse(next.previous_owner!.until) - left)).toBeLessThan(NAME_RESERVATION_MS)
    const unrelated = await relay.register('unrelated')
    const fallback = await relay.register('handed', { account, allow_canonical_fallback: true })
    expect(fallback.hostname).toBe('')
    for (const lease of [first, again, unrelated, fallback]) expect(lease.previous_owner).toBeUndefined()
  })

  test('keeps no name for a certificate of the canonical hostname alone', async () => {
    relay = await startTestRelay(SHORT_GRACE)
    const lease = await relay.register('canonical')
    const csr = certificateRequest([lease.canonical_hostname]).toString('base64')
    await relay.call('POST', '/sdk/certificate', { csr }, { 'X-Svc-Access-Token': lease.access_token })
    await relay.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    await restartAfter(2 * NAME_RESERVATION_MS)
    expect((await relay.register('canonical')).hostname).toBe(lease.hostname)
  })
})

describe('reservations', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  const hold = (reservations: Reservations, key: string): void =>
    reservations.hold(key, { hostname: `${key}.test`, expiresAt: now() + 1000 })

  test('of a name with a certificate end with the certificate, and the longest counts', () => {
    const reservations = new Reservations()
    hold(reservations, 'a')
    reservations.certify('a', 'a.test', now() + 2 * DAY_MS)
    reservations.certify('a', 'a.test', now() + DAY_MS)
    reservations.certify('a', 'other.test', now() + 9 * DAY_MS)
    reservations.release('a')
    vi.advanceTimersByTime(2 * DAY_MS - 1)
    expect([reservations.holderOf('a.test'), reservations.holderOf('other.test')]).toEqual(['a', undefined])
    vi.advanceTimersByTime(1)
    expect(reservations.holderOf('a.test')).toBeUndefined()
  })

  describe('of names without a lease', () => {
    const leave = (reservations: Reservations, key: string, network: string): void => {
      reservations.hold(key, { hostname: `${key}.test`, expiresAt: now() + 1000, network })
      reservations.certify(key, `${key}.test`, now() + DAY_MS)
      reservations.release(key)
      vi.advanceTimersByTime(1)
    }
    const kept = (reservations: Reservations, keys: string[]): string[] =>
      keys.filter((key) => reservations.ownerOf(`${key}.test`) === key)
    const keysOf = (count: number, keyOf: (number: number) => string): string[] =>
      Array.from({ length: count }, (_, number) => keyOf(number))

    test('have a share for each account, and for each wide network; the newcomer makes room itself', () => {
      const reservations = new Reservations()
      leave(reservations, 'victim:0xaa', '198.51.100.200')
      leave(reservations, 'other:0xbb', '192.0.2.1')
      const ofAccount = keysOf(100, (number) => `name${number}:0xcc`)
      for (const [number, key] of ofAccount.entries()) leave(reservations, key, `203.0.${number}.1`)
      const ofNetwork = keysOf(500, (number) => `taken${number}:0x${number}`)
      for (const key of ofNetwork) leave(reservations, key, '198.51.100.1')
      const ofPrefix = keysOf(500, (number) => `wide${number}:0x${number}`)
      for (const [number, key] of ofPrefix.entries())
        leave(reservations, key, `2001:db8:1:${number.toString(16)}`)
      vi.advanceTimersByTime(NAME_RESERVATION_MS)
      expect(kept(reservations, ofAccount)).toEqual(ofAccount.slice(-CERTIFIED_NAMES_PER_ACCOUNT_MAX))
      expect(kept(reservations, ofNetwork)).toEqual(ofNetwork.slice(1 - CERTIFIED_NAMES_PER_NETWORK_MAX))
      expect(kept(reservations, ofPrefix)).toHaveLength(CERTIFIED_NAMES_PER_NETWORK_MAX)
      expect(kept(reservations, ['victim:0xaa', 'other:0xbb'])).toHaveLength(2)
    })

    test('that are given up are free, and the next owner is told of the certificate', () => {
      const reservations = new Reservations()
      const keys = keysOf(CERTIFIED_NAMES_PER_ACCOUNT_MAX + 1, (number) => `name${number}:0xcc`)
      for (const key of keys) leave(reservations, key, '198.51.100.1')
      vi.advanceTimersByTime(NAME_RESERVATION_MS)
      const [first] = keys as [string]
      expect(reservations.holderOf(`${first}.test`)).toBeUndefined()
      reservations.hold('next', { hostname: `${first}.test`, expiresAt: now() + 1000 })
      expect(reservations.formerOwner('next', `${first}.test`)).toMatchObject({
        key: first,
        certifiedUntil: expect.any(Number),
      })
      expect(reservations.formerOwner(first, `${first}.test`)).toBeUndefined()
    })

    test('have the same shares after a restart, and a lease does not count', () => {
      const journal = new Map<string, Reservation>()
      const reservations = new Reservations((key, reservation) => void journal.set(key, reservation))
      const keys = keysOf(CERTIFIED_NAMES_PER_ACCOUNT_MAX, (number) => `name${number}:0xcc`)
      for (const key of keys) leave(reservations, key, '198.51.100.1')
      hold(reservations, keys[0]!)
      const restarted = new Reservations()
      const lines = [...journal].map((line) => formatJournalLine(...line)).join('')
      for (const entry of parseJournal(Buffer.from(lines)).entries) restarted.restore(...entry)
      leave(restarted, 'more:0xcc', '198.51.100.1')
      leave(reservations, 'more:0xcc', '198.51.100.1')
      vi.advanceTimersByTime(NAME_RESERVATION_MS + 1000)
      expect(kept(restarted, keys)).toEqual(keys.slice(1))
      expect(kept(reservations, keys)).toEqual(keys)
    })
  })

  test('with certificates are bounded, and those that have ended make room', () => {
    const reservations = new Reservations()
    for (let number = 0; number < CERTIFIED_NAMES_MAX; number++) {
      // each of another wide network
      const network = `10.${number >> 8}.${number & 255}.1`
      reservations.hold(`${number}`, { hostname: `${number}.test`, expiresAt: now() + 1000, network })
      expect(reservations.mayCertify(`${number}`)).toBe(true)
      reservations.certify(`${number}`, `${number}.test`, now() + DAY_MS)
      reservations.release(`${number}`)
    }
    hold(reservations, 'more')
    expect([reservations.mayCertify('more'), reservations.mayCertify('7')]).toEqual([false, true])
    vi.advanceTimersByTime(DAY_MS)
    expect(reservations.mayCertify('more')).toBe(true)
    expect(reservations.size).toBe(1)
  })
})
