// Attacks, one by one, the bounds that no single client meets in ordinary use.

import { afterEach, describe, expect, test, vi } from 'vitest'
import { LoginAttempts } from '../src/api/handlers/login-attempts.ts'
import { BindingStore } from '../src/keyless/bindings.ts'
import { LeaseRegistry } from '../src/lease/lease-registry.ts'
import { Reservations } from '../src/lease/reservations.ts'
import { ROOT_ROUTE, type Route } from '../src/lease/route.ts'
import { RoutingTable } from '../src/routing/routing-table.ts'
import { newLease } from './support/lease.ts'
import { readAll, startTestRelay } from './support/relay.ts'

afterEach(() => void vi.useRealTimers())

const HELLO = Buffer.from('hello')

describe('bindings', () => {
  test('one is forgotten after 5 minutes', () => {
    vi.useFakeTimers()
    const bindings = new BindingStore()
    const lease = newLease()
    const binding = bindings.issue(lease, HELLO)
    vi.advanceTimersByTime(5 * 60_000 - 1)
    expect(bindings.allows(binding, lease, HELLO)).toBe(true)
    vi.advanceTimersByTime(1)
    expect(bindings.allows(binding, lease, HELLO)).toBe(false)
  })

  test('of 65,537 open ones the oldest is forgotten', () => {
    const bindings = new BindingStore()
    const lease = newLease()
    const [first, second] = [bindings.issue(lease, HELLO), bindings.issue(lease, HELLO)]
    for (let i = 2; i < 65_536; i++) bindings.issue(lease, HELLO)
    expect(bindings.allows(first, lease, HELLO)).toBe(true)
    bindings.issue(lease, HELLO)
    expect([first, second].map((one) => bindings.allows(one, lease, HELLO))).toEqual([false, true])
  })

  test('one belongs to a lease instance and a ClientHello', () => {
    const bindings = new BindingStore()
    const lease = newLease()
    const binding = bindings.issue(lease, HELLO)
    expect(bindings.allows(binding, newLease(), HELLO)).toBe(false)
    expect(bindings.allows(binding, lease, Buffer.from('hullo'))).toBe(false)
    bindings.revoke(binding)
    expect(bindings.allows(binding, lease, HELLO)).toBe(false)
  })
})

test('100,000 leases are the most; a renewal or replacement still finds its place', () => {
  vi.useFakeTimers()
  const leases = new LeaseRegistry(new RoutingTable<Route>('relay.localhost', ROOT_ROUTE), new Reservations())
  const register = (index: number) => {
    const address = `0x${index.toString(16).padStart(40, '0')}`
    const request = {
      identity: { name: `n${index}`, address },
      allowCanonicalFallback: false,
      metadata: {},
      ttlS: 600,
    }
    return leases.register(request, { clientIp: '192.0.2.1', reportedIp: undefined })
  }
  for (let i = 0; i < 100_000; i++) register(i)
  expect(() => register(100_000)).toThrow(expect.objectContaining({ code: 'feature_unavailable' }))
  expect(register(5).hostname).toBe('n5.relay.localhost')
})

test('failed logins of 1,024 client addresses are remembered; the one that failed longest ago is forgotten first', () => {
  const attempts = new LoginAttempts()
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

test.each([
  'GET / HTTP/1.1\r\n\r\n',
  'POST /sdk/renew HTTP/1.1\r\nHost: relay.localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
  '\0\r\n\r\n',
])('%j gets 400 and a closed connection', async (request) => {
  const relay = await startTestRelay()
  const socket = relay.tls('relay.localhost')
  socket.write(request)
  expect((await readAll(socket)).toString()).toMatch(/^HTTP\/1\.1 400 /)
  await relay.close()
})

test('a request head over 16 KiB is refused with 431, and the relay stays up', async () => {
  const relay = await startTestRelay()
  expect(
    await relay.call('GET', '/api/healthz', undefined, { 'X-Large': 'x'.repeat(16 * 1024) }),
  ).toMatchObject({
    status: 431,
  })
  expect((await relay.call('GET', '/api/healthz')).status).toBe(200)
  await relay.close()
})
