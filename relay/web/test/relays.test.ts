// The list of relays: what is listed, and how far away each one is, of which a few are asked at once.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DiscoveryResponse, RelayDescriptor } from '@svc/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { listedRelays } from '../src/relays/listed-relays.ts'
import type { ProbeAnswer } from '../src/relays/relay-probe.ts'
import { ANSWER_MAX_BYTES, measureRoundTrip } from '../src/relays/round-trip.ts'
import { MEASUREMENTS_AT_ONCE_MAX, RoundTrips } from '../src/relays/round-trips.ts'

const descriptor = (api_https_addr: string, fields: Partial<RelayDescriptor> = {}): RelayDescriptor => ({
  address: `0x${'ab'.repeat(20)}`,
  version: '10',
  issued_at: '2026-01-01T00:00:00Z',
  expires_at: '2026-01-01T00:10:00Z',
  api_https_addr,
  wireguard_public_key: '',
  wireguard_port: 0,
  supports_overlay: false,
  supports_udp: false,
  supports_tcp: false,
  active_connections: 0,
  tcp_bps: 0,
  signature: btoa('\0'.repeat(65)),
  ...fields,
})
const response = (relays: RelayDescriptor[], releases: Record<string, string> = {}): DiscoveryResponse => ({
  protocol_version: '10',
  generated_at: '2026-01-01T00:00:00Z',
  relays,
  incompatible_relays: [],
  release_version: '1.0.0',
  relay_release_versions: releases,
})

describe('listed', () => {
  test('are this relay first, then the others by origin, each once, with their releases', () => {
    const relays = ['https://m.example/', 'https://z.example', 'https://a.example', 'https://z.example/']
    const listed = listedRelays(
      response(
        relays.map((url) => descriptor(url)),
        { 'https://a.example': '2\u202E.0' },
      ),
    )
    expect(listed.map(({ origin, release }) => [origin, release])).toEqual([
      ['https://m.example', '1.0.0'],
      ['https://a.example', '2 .0'],
      ['https://z.example', ''],
    ])
  })

  test.each([
    { api_https_addr: 'javascript:alert(1)' },
    { api_https_addr: 'http://a.example' },
    { address: '<b>' },
    { expires_at: 'never' },
  ])('is no relay with %j', (fields) => {
    expect(listedRelays(response([descriptor('https://a.example', fields)]))).toEqual([])
  })
})

describe('a few at once are measured', () => {
  const start = () => {
    const posted: string[] = []
    let answer: (answer: { data: ProbeAnswer }) => void = () => {}
    let fail: () => void = () => {}
    const roundTrips = new RoundTrips({
      postMessage: (origin) => void posted.push(origin),
      addEventListener: (type: string, listener: never) => {
        if (type === 'message') answer = listener
        else fail = listener
      },
      terminate: () => {},
    })
    return {
      roundTrips,
      posted,
      answer: (origin: string, ms?: number) => answer({ data: { origin, ms } }),
      fail: () => fail(),
    }
  }
  const many = Array.from({ length: 10 }, (_, index) => `https://r${index}.example`)

  test('in the order of the list, one more for each that answers or does not', () => {
    const { roundTrips, posted, answer } = start()
    roundTrips.measure(many)
    expect(posted).toEqual(many.slice(0, MEASUREMENTS_AT_ONCE_MAX))
    answer(many[1]!, 12)
    answer(many[0]!)
    expect(posted).toEqual(many.slice(0, MEASUREMENTS_AT_ONCE_MAX + 2))
    expect([...roundTrips.results.value]).toEqual([
      [many[1], 12],
      [many[0], 'silent'],
    ])
    for (const origin of many.slice(2)) answer(origin, 1)
    roundTrips.measure(many)
    expect(posted).toEqual(many)
  })

  test('what left the list is forgotten, also when it answers later', () => {
    const { roundTrips, answer } = start()
    roundTrips.measure(many.slice(0, 2))
    answer(many[0]!, 1)
    roundTrips.measure(many.slice(1, 3))
    answer(many[1]!, 2)
    roundTrips.measure([])
    answer(many[2]!, 3)
    expect(roundTrips.results.value.size).toBe(0)
  })

  test('all of them again when somebody asks for it', () => {
    const { roundTrips, posted, answer } = start()
    roundTrips.measure(many.slice(0, 1))
    answer(many[0]!, 1)
    roundTrips.repeat()
    expect(posted).toEqual([many[0], many[0]])
    expect(roundTrips.results.value.size).toBe(0)
  })

  test('where the browser cannot run the worker, none of them says anything about a relay', () => {
    const { roundTrips, fail } = start()
    roundTrips.measure(many.slice(0, 5))
    fail()
    expect([...roundTrips.results.value.values()]).toEqual(Array(5).fill('unmeasured'))
    roundTrips.measure(many)
    expect([...roundTrips.results.value.values()]).toEqual(Array(10).fill('unmeasured'))
  })
})

describe('a round trip', () => {
  const listen = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const relay = JSON.stringify({ ok: true, data: { protocol_version: '10' } })

  test('is that of the second request', async () => {
    const paths: (string | undefined)[] = []
    const origin = await listen(({ url }, answer) => {
      paths.push(url)
      answer.end(relay)
    })
    expect(await measureRoundTrip(origin)).toBeGreaterThan(0)
    expect(paths).toEqual(['/sdk/domain', '/sdk/domain'])
  })

  const hostile: Record<string, RequestListener> = {
    'that is no relay': (_, answer) => answer.end('<html>'),
    'whose answer is null': (_, answer) => answer.end('null'),
    'that refuses': (_, answer) => answer.writeHead(503).end(relay),
    'that redirects': (_, answer) => answer.writeHead(302, { Location: '/' }).end(),
    'that answers too much': (_, answer) => answer.end(relay + ' '.repeat(ANSWER_MAX_BYTES)),
    'that never answers': () => {},
    'that never ends': (_, answer) => answer.write(relay),
  }
  test.each(Object.keys(hostile))('is not measured to one %s', async (what) => {
    await expect(measureRoundTrip(await listen(hostile[what]!), 500)).rejects.toThrow()
  })
})
