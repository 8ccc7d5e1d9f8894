// A name stays with the identity that has a certificate for it for as long as that is valid, also across a restart.

import { X509Certificate } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { now } from '../../../src/clock.ts'
import { Reservations } from '../../../src/lease/reservations.ts'
import { CERTIFIED_NAMES_MAX, CERTIFIED_STEP_MS, NAME_RESERVATION_MS } from '../../../src/limits.ts'
import { certificateRequest } from '../../support/certificate-request.ts'
import { newAccount, startTestRelay, type TestRelay } from '../../support/relay.ts'

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
    relay = await startTestRelay({}, { directory: relay!.directory })
  }
  const conflict = /hostname_conflict/

  test('gives the name to nobody else before the certificate has ended', async () => {
    relay = await startTestRelay()
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

  test('keeps no name for a certificate of the canonical hostname alone', async () => {
    relay = await startTestRelay()
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

  test('with certificates are bounded, and those that have ended make room', () => {
    const reservations = new Reservations()
    for (let number = 0; number < CERTIFIED_NAMES_MAX; number++) {
      hold(reservations, `${number}`)
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
