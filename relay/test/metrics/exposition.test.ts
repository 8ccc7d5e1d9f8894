// METRICS_ADDR: what a scraper gets, read strictly, after everything that is counted happened a known number of times.

import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { openCarrier } from '../support/carrier.ts'
import { type Family, parseExposition } from '../support/exposition.ts'
import { freePort, startTestRelay, type TestRelay } from '../support/relay.ts'

let relay: TestRelay
let url: string

beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}/metrics`
  relay = await startTestRelay({ METRICS_ADDR: `${port}`, ADMIN_TOKEN: 'let-me-in-as-administrator' })
})
afterAll(() => relay.close())

async function scrape(): Promise<Map<string, Family>> {
  const response = await fetch(url)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4; charset=utf-8$/)
  return parseExposition(await response.text())
}

async function sample(name: string, labels = ''): Promise<number | undefined> {
  return (await scrape()).get(`svc_relay_${name}`)?.samples.get(`svc_relay_${name}${labels}`)
}

describe('metrics', () => {
  test('keep to the format and to the conventions of names', async () => {
    const families = await scrape()
    const names = [...families.keys()]
    const ours = names.filter((name) => name.startsWith('svc_relay_'))
    expect(ours.length).toBeGreaterThanOrEqual(12)
    for (const name of ours)
      expect(name.endsWith('_total'), name).toBe(families.get(name)!.type === 'counter')
    for (const name of [
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      'process_start_time_seconds',
    ])
      expect(names).toContain(name)
  })

  test('count a visitor from coming to leaving, byte by byte', async () => {
    const lease = await relay.register('counted')
    const carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
    const visitor = await relay.tcp()
    const hello = await captureHello(lease.hostname)
    visitor.write(hello)
    await vi.waitUntil(async () => (await sample('claims_waited_total')) === 1)
    const { stream, read } = await carrier.open(lease.reverse_endpoint.capability)
    await read(1 + 1 + 16 + hello.length)
    await stream.write(new Uint8Array(1000))
    await once(visitor, 'data')
    visitor.write(new Uint8Array(500))
    await read(500)
    expect(await sample('visitor_connections')).toBe(1)
    expect(await sample('visitor_received_bytes_total')).toBe(hello.length + 500)
    expect(await sample('visitor_sent_bytes_total')).toBe(1000)
    visitor.end()
    await stream.end()
    await vi.waitUntil(async () => (await sample('visitor_connections')) === 0)
    expect(await sample('visitor_received_bytes_total')).toBe(hello.length + 500)
    expect(await sample('visitor_sent_bytes_total')).toBe(1000)
    expect(await sample('activations_total')).toBe(1)
    expect(await sample('claims_failed_total')).toBe(0)
    expect(await sample('carriers')).toBe(1)
    const ready = await carrier.open(lease.reverse_endpoint.capability)
    await ready.read(1)
    expect(await sample('ready_sessions')).toBe(1)
    expect(await sample('leases')).toBe(1)
    // The administrator gets the same numbers from the API.
    const headers = { Authorization: 'Bearer let-me-in-as-administrator' }
    const answer = await relay.call('GET', '/api/admin/load', undefined, headers)
    const { traffic, ...load } = answer.json.data as { traffic: { day: object } }
    const [received_bytes, sent_bytes] = [hello.length + 500, 1000]
    expect(traffic.day).toEqual({ received_bytes, sent_bytes, connections: 1, visitors: 1 })
    expect(load).toEqual({
      leases: 1,
      ready_sessions: 1,
      carriers: 1,
      visitor_connections: 0,
      visitor_received_bytes: received_bytes,
      visitor_sent_bytes: sent_bytes,
    })
    carrier.socket.close()
    await vi.waitUntil(async () => (await sample('carriers')) === 0)
    expect(await sample('ready_sessions')).toBe(0)
  })

  test('count requests by route and status, refusals by code, signatures by outcome; nothing that clients choose', async () => {
    const names = ['/no/such/path', '/no/such/other']
    for (const path of names) await relay.call('GET', path)
    await relay.call('POST', '/sdk/renew', '{')
    await relay.call('POST', '/v1/sign', {})
    await relay.call('DELETE', '/sdk/domain')
    await relay.call('POST', '/api/admin/auth/login', { token: 'wrong' })
    const text = await (await fetch(url)).text()
    for (const path of [...names, 'counted']) expect(text).not.toContain(path)
    expect(await sample('api_requests_total', '{route="pages",status="404"}')).toBe(2)
    expect(await sample('api_requests_total', '{route="/sdk/renew",status="400"}')).toBe(1)
    expect(await sample('api_requests_total', '{route="/sdk/domain",status="405"}')).toBe(1)
    expect(await sample('api_refusals_total', '{code="invalid_json"}')).toBe(1)
    expect(await sample('api_refusals_total', '{code="unauthorized"}')).toBe(2)
    expect(await sample('sign_requests_total', '{outcome="refused"}')).toBe(1)
  })

  test('are at one path, for GET only, and not on the public port', async () => {
    expect((await fetch(new URL('/', url))).status).toBe(404)
    expect(await fetch(url, { method: 'POST' })).toMatchObject({ status: 405 })
    expect((await relay.call('GET', '/metrics')).status).toBe(404)
  })

  test('an address that cannot be bound is an error that names the setting', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    await expect(startTestRelay({ METRICS_ADDR: `${port}` })).rejects.toThrow(/^METRICS_ADDR: .*EADDRINUSE/)
    other.close()
  })
})
