// The wall clock is set a day forward and back while the relay runs: no lease stands too long or ends too early.

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PublicStateResponse, RegisterChallengeResponse, RenewResponse } from '@svc/protocol'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { wholeOnly } from '../../tools/test-depth.ts'
import { useStarted } from '../../tools/use-started.ts'
import { clockOrigin, setClockOrigin } from '../src/core/clock.ts'
import { UPGRADE_HEADERS } from './support/api-socket.ts'
import { openCarrier } from './support/carrier.ts'
import { newAccount, startTestRelay } from './support/relay.ts'
import { nativeSession } from './support/session.ts'
import { activate, genuine, sign } from './support/sign.ts'
import { resetWallClock, stepWallClock } from './support/wall-clock.ts'

const ADMIN_TOKEN = 'a-token-of-32-characters-or-more'
const DAY_MS = 86_400_000
const SHORT_S = 3

/** Much longer than any of these waits, and much shorter than a day. */
const PATIENT = { timeout: 60_000, interval: 100 }

const relay = useStarted(() => startTestRelay({ ADMIN_TOKEN }))
afterEach(() => resetWallClock())

async function names(): Promise<string[]> {
  const { data } = (await relay.call('GET', '/api/state')).json
  return (data as unknown as PublicStateResponse).leases.map(({ name }) => name)
}

describe.each([
  ['forward', DAY_MS],
  ['back', -DAY_MS],
])('a day %s', (direction, step) => {
  /** The leases of this direction have names of their own: the relay serves both. */
  const named = (what: string): string => `${what}-${direction}`

  test('a lease lives exactly as long as it was given, and its tokens are good until then', async () => {
    const start = performance.now()
    const short = await relay.register(named('short'), { ttl: SHORT_S })
    const brief = await relay.register(named('brief'), { ttl: SHORT_S })
    const extended = await relay.call('POST', '/sdk/renew', { access_token: brief.access_token, ttl: 60 })
    expect(extended.status).toBe(200)
    const long = await relay.register(named('long'), { ttl: 300 })
    stepWallClock(step)

    const renewed = await relay.call('POST', '/sdk/renew', { access_token: long.access_token, ttl: 120 })
    expect(renewed.status).toBe(200)
    const { expires_at } = renewed.json.data as unknown as RenewResponse
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 120_000)).toBeLessThan(PATIENT.timeout)
    await nativeSession(relay, long.reverse_endpoint.capability, UPGRADE_HEADERS)
    expect(await names()).toEqual(expect.arrayContaining([named('long')]))

    const lived = async () => !(await names()).includes(named('short'))
    await vi.waitUntil(lived)
    expect(performance.now() - start).toBeGreaterThan(SHORT_S * 1000 - 100)
    const late = await relay.call('POST', '/sdk/renew', { access_token: short.access_token })
    expect([403, 404]).toContain(late.status)
    // A token that was replaced ends when it was to end, although its lease goes on.
    stepWallClock(-step)
    const replaced = () => relay.call('POST', '/sdk/renew', { access_token: brief.access_token })
    await vi.waitUntil(async () => (await replaced()).status === 403)
    expect(await names()).toContain(named('brief'))
  })

  test('a challenge that was issued before is good after', async () => {
    const account = newAccount()
    const identity = { name: named('challenged'), address: account.address }
    const { data } = (await relay.call('POST', '/sdk/register/challenge', { identity })).json
    stepWallClock(step)
    const { challenge_id, siwe_message } = data as RegisterChallengeResponse
    const siwe_signature = await account.signMessage({ message: siwe_message })
    const answer = await relay.call('POST', '/sdk/register', { challenge_id, siwe_message, siwe_signature })
    expect(answer.status).toBe(201)
  })

  test('a handshake that had begun before is signed after', async () => {
    const lease = await relay.register(named('signed'))
    const carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
    const activated = await activate(relay, carrier, lease)
    const chain = [new X509Certificate(await readFile(join(relay.directory, 'fullchain.pem'))).raw]
    stepWallClock(step)
    const request = genuine(activated, chain)
    expect((await sign(relay, lease.access_token, request)).status).toBe(200)
    carrier.session.close()
  })

  test('a name is kept for its identity, neither longer nor shorter, also over a restart', async () => {
    const account = newAccount()
    const before = await startTestRelay()
    await before.register('demo', { account, ttl: 60 })
    stepWallClock(step)
    await expect(before.register('demo')).rejects.toThrow('hostname_conflict')
    // Another lease's renewal, or registration, is what brings the new time into the file.
    await before.register('other')
    await before.stop()
    const file = await readFile(join(before.directory, 'leases.jsonl'), 'utf8')
    for (const line of file.trimEnd().split('\n'))
      expect(Math.abs(Date.parse(JSON.parse(line).expires_at) - Date.now())).toBeLessThan(600_000)
    const after = await startTestRelay({}, { directory: before.directory })
    await expect(after.register('demo')).rejects.toThrow('hostname_conflict')
    expect(await after.register('demo', { account })).toMatchObject({ hostname: 'demo.relay.localhost' })
    await after.close()
  })

  test('who failed to log in waits a minute, and not a day', async () => {
    const login = () => relay.call('POST', '/api/admin/auth/login', { token: 'wrong' })
    for (let n = 0; n < 5; n++) await login()
    stepWallClock(step)
    const refused = await login()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60)
  })
})

wholeOnly(test, 'variant')(
  'every process of a relay has one time, whatever the wall clock was when each started',
  async () => {
    const before = clockOrigin()
    setClockOrigin(before + DAY_MS)
    const several = await startTestRelay({ SVC_WORKERS: '2' })
    try {
      const { reverse_endpoint } = await several.register('demo')
      // The kernel spreads them over both processes.
      for (let n = 0; n < 12; n++) {
        const session = await nativeSession(several, reverse_endpoint.capability, UPGRADE_HEADERS)
        session.abort()
      }
    } finally {
      await several.close()
      setClockOrigin(before)
    }
  },
)
