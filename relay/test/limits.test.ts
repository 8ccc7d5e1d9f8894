// Attacks, one by one, the bounds that no single client meets in ordinary use.

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { wholeOnly } from '../../tools/test-depth.ts'
import { BindingStore } from '../src/core/keyless/bindings.ts'
import { LeaseRegistry } from '../src/core/lease/lease-registry.ts'
import { Reservations } from '../src/core/lease/reservations.ts'
import { ROOT_ROUTE, type Route } from '../src/core/lease/route.ts'
import { FailedAttempts } from '../src/core/rate-limit/failed-attempts.ts'
import { RoutingTable } from '../src/core/routing/routing-table.ts'
import { newLease } from './support/lease.ts'
import { readAll, startTestRelay, type TestRelay } from './support/relay.ts'

afterEach(() => void vi.useRealTimers())

/** Tens of thousands of anything take long on a slow machine. */
const PATIENT_MS = 180_000
const HELLO = Buffer.from('hello')

describe('bindings', () => {
  test('one is forgotten after 5 minutes (protocol §10.3.10)', () => {
    vi.useFakeTimers()
    const bindings = new BindingStore()
    const lease = newLease()
    const binding = bindings.issue(lease, HELLO)
    vi.advanceTimersByTime(5 * 60_000 - 1)
    expect(bindings.allows(binding, lease, HELLO)).toBe(true)
    vi.advanceTimersByTime(1)
    expect(bindings.allows(binding, lease, HELLO)).toBe(false)
  })

  test('of 65,537 open ones the oldest is forgotten', { timeout: PATIENT_MS }, () => {
    const bindings = new BindingStore()
    const lease = newLease()
    const [first, second] = [bindings.issue(lease, HELLO), bindings.issue(lease, HELLO)]
    for (let i = 2; i < 65_536; i++) bindings.issue(lease, HELLO)
    expect(bindings.allows(first, lease, HELLO)).toBe(true)
    bindings.issue(lease, HELLO)
    expect([first, second].map((one) => bindings.allows(one, lease, HELLO))).toEqual([false, true])
  })

  test('one belongs to a lease instance and a ClientHello (protocol §10.3.10)', () => {
    const bindings = new BindingStore()
    const lease = newLease()
    const binding = bindings.issue(lease, HELLO)
    expect(bindings.allows(binding, newLease(), HELLO)).toBe(false)
    expect(bindings.allows(binding, lease, Buffer.from('hullo'))).toBe(false)
    bindings.revoke(binding)
    expect(bindings.allows(binding, lease, HELLO)).toBe(false)
  })
})

wholeOnly(test, 'depth')(
  '100,000 leases are the most; a renewal or replacement still finds its place (protocol §4.4.9)',
  {
    timeout: PATIENT_MS,
  },
  () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const leases = new LeaseRegistry(
      new RoutingTable<Route>('relay.localhost', ROOT_ROUTE),
      new Reservations(),
    )
    const register = (index: number) => {
      const address = `0x${index.toString(16).padStart(40, '0')}`
      const request = {
        identity: { name: `n${index}`, address },
        allowCanonicalFallback: false,
        metadata: {},
        ttlS: 600,
      }
      // Each comes from a network of its own, for one network alone cannot have them all.
      const clientIp = `${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}.1`
      return leases.draft(request, { clientIp, reportedIp: undefined }).commit()
    }
    for (let i = 0; i < 100_000; i++) register(i)
    expect(() => register(100_000)).toThrow(expect.objectContaining({ code: 'feature_unavailable' }))
    expect(register(5).hostname).toBe('n5.relay.localhost')
  },
)

test('failed logins of 1,024 client addresses are remembered; the one that failed longest ago is forgotten first', () => {
  const attempts = new FailedAttempts()
  const fail = (source: string) => {
    for (let i = 0; i < 5; i++) attempts.failed(source)
  }
  for (let i = 0; i < 1024; i++) fail(`source ${i}`)
  expect(attempts.failed('source 0')).toEqual({ waitS: expect.any(Number), isFirst: true })
  expect(attempts.failed('source 0')).toEqual({ waitS: expect.any(Number), isFirst: false })
  fail('one more')
  expect(attempts.failed('source 1')).toEqual({ waitS: undefined, isFirst: false })
  expect(attempts.failed('source 3')).toEqual({ waitS: expect.any(Number), isFirst: true })
})

describe('a relay', () => {
  let relay: TestRelay
  beforeAll(async () => {
    relay = await startTestRelay()
  })
  afterAll(() => relay.close())

  test.each([
    'GET / HTTP/1.1\r\n\r\n',
    'POST /sdk/renew HTTP/1.1\r\nHost: relay.localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
    '\0\r\n\r\n',
  ])('answers %j with 400 and closes the connection', async (request) => {
    const socket = relay.tls('relay.localhost')
    socket.write(request)
    expect((await readAll(socket)).toString()).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('refuses a request head over 64 KiB with 431, and stays up (protocol §2.1.6)', async () => {
    const large = { 'X-Large': 'x'.repeat(64 * 1024) }
    expect(await relay.call('GET', '/api/healthz', undefined, large)).toMatchObject({ status: 431 })
    expect((await relay.call('GET', '/api/healthz')).status).toBe(200)
  })
})
