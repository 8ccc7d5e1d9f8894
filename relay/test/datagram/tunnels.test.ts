// Tests the datagram tunnel of a real relay: what passes, what does not, and that a misbehaving client harms no other.

import { createSocket } from 'node:dgram'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { datagramsOf, decodeDatagram, encodeAggregate, type RegisterResponse } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { createLeaf } from '../../src/core/certificates/development-ca.ts'
import { readIfPresent } from '../../src/core/storage/state-file.ts'
import { type Family, parseExposition } from '../support/exposition.ts'
import { freePort, newAccount, ROOT_HOST, startTestRelay, type TestRelay } from '../support/relay.ts'
import { openTunnel, type TestTunnel, type Visitor, visitorOf } from '../support/tunnel.ts'
import { startUdpPath } from '../support/udp-path.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const ADMIN = { Authorization: `Bearer ${ADMIN_TOKEN}` }
const PORTS = 60
/** Until something has arrived, on a slow machine. */
const PATIENT_MS = 60_000
// a relay that starts waits for its QUIC process

let relay: TestRelay
let first: number
let metrics: string
beforeAll(async () => {
  first = await freeRange(PORTS)
  const metricsPort = await freePort()
  metrics = `http://127.0.0.1:${metricsPort}/metrics`
  relay = await startTestRelay({
    ADMIN_TOKEN,
    METRICS_ADDR: `${metricsPort}`,
    UDP_ENABLED: 'true',
    TCP_ENABLED: 'true',
    MIN_PORT: `${first}`,
    MAX_PORT: `${first + PORTS - 1}`,
    // A relay on localhost listens at 127.0.0.1 alone by itself.
    BIND_ADDRESS: '::',
  })
})
afterAll(() => relay.close())

const open: { close(): unknown }[] = []
afterEach(() => Promise.all(open.splice(0).map((one) => one.close())))

interface Site {
  lease: RegisterResponse
  port: number
  tunnel: TestTunnel
}

const account = newAccount()
let names = 0

async function registered(fields: object = { udp_enabled: true }) {
  names += 1
  const lease = await relay.register(`game${names}`, { account, ...fields })
  open.push({ close: () => relay.call('POST', '/sdk/unregister', { access_token: lease.access_token }) })
  return lease
}

async function openedTunnel(): Promise<TestTunnel> {
  const tunnel = await openTunnel(relay)
  open.push(tunnel)
  return tunnel
}

async function site(extensions?: { aggregates?: boolean }): Promise<Site> {
  const lease = await registered()
  const opened = await openedTunnel()
  expect(await opened.hello(lease.access_token, extensions)).toEqual({
    ok: true,
    heartbeat: true,
    ...extensions,
  })
  return { lease, port: portOf(lease), tunnel: opened }
}

function visitor(port: number, type?: 'udp4' | 'udp6'): Visitor {
  const visitor = visitorOf(port, type)
  open.push(visitor.socket)
  return visitor
}

const portOf = ({ udp_addr }: RegisterResponse): number => Number(udp_addr?.split(':').at(-1))
const hex = (text: string): Buffer => Buffer.from(text, 'hex')

async function sample(name: string, labels = ''): Promise<number> {
  const families: Map<string, Family> = parseExposition(await (await fetch(metrics)).text())
  return families.get(`svc_relay_${name}`)?.samples.get(`svc_relay_${name}${labels}`) ?? 0
}

const dropped = (reason: string): Promise<number> => sample('datagrams_dropped_total', `{reason="${reason}"}`)

/** UDP may lose any single one, so it is sent until it counts. */
async function untilDropped(reason: string, send: () => void): Promise<void> {
  const before = await dropped(reason)
  await vi.waitUntil(async () => {
    send()
    return (await dropped(reason)) > before
  }, PATIENT_MS)
}

async function untilReached(visitor: Visitor, tunnel: TestTunnel): Promise<void> {
  await vi.waitUntil(() => {
    visitor.send('still here')
    return tunnel.datagrams.length > 0
  }, PATIENT_MS)
}

describe('a tunnel', () => {
  test('carries both ways: flow id and payload, answered from the port of the lease (protocol §12.2.1)', async () => {
    const { port, tunnel } = await site()
    const one = visitor(port)
    one.send(hex('c0ffee'))
    await expect.poll(() => tunnel.datagrams.length).toBe(1)
    expect(tunnel.datagrams).toEqual(['01c0ffee'])
    const other = visitor(port)
    other.send('')
    await expect.poll(() => tunnel.datagrams.length).toBe(2)
    expect(tunnel.datagrams[1]).toBe('02')
    tunnel.session.sendDatagram(hex('01feed'))
    tunnel.session.sendDatagram(hex('02'))
    await vi.waitUntil(() => one.got.length === 1 && other.got.length === 1, PATIENT_MS)
    expect(one.got).toEqual([{ payload: 'feed', port }])
    expect(other.got).toEqual([{ payload: '', port }])
  })

  test('serves visitors of IPv6', async () => {
    const { port, tunnel } = await site()
    const six = visitor(port, 'udp6')
    six.send('hello')
    await expect.poll(() => tunnel.datagrams.length).toBe(1)
    tunnel.session.sendDatagram(hex(tunnel.datagrams[0]!))
    await expect.poll(() => six.got.length).toBe(1)
    expect(six.got[0]).toEqual({ payload: Buffer.from('hello').toString('hex'), port })
  })

  test('a datagram of 1150 bytes with its flow id passes at once, both ways (protocol §12.2.3)', async () => {
    const { port, tunnel } = await site()
    const one = visitor(port)
    const payload = Buffer.alloc(1149, 7)
    one.send(payload)
    await expect.poll(() => tunnel.datagrams.length).toBe(1)
    expect(tunnel.datagrams[0]).toBe(`01${payload.toString('hex')}`)
    tunnel.session.sendDatagram(hex(tunnel.datagrams[0]!))
    await expect.poll(() => one.got.length).toBe(1)
    expect(one.got[0]!.payload).toBe(payload.toString('hex'))
  })

  test('takes an aggregate apart: each datagram goes to its own visitor', async () => {
    const { port, tunnel } = await site()
    const visitors = [visitor(port), visitor(port)]
    for (const one of visitors) {
      const before = tunnel.datagrams.length
      one.send('hello')
      await expect.poll(() => tunnel.datagrams.length).toBe(before + 1)
    }
    tunnel.session.sendDatagram(encodeAggregate([hex('01feed'), hex('02'), hex('01c0ffee')]))
    await expect.poll(() => visitors[0]!.got.length).toBe(2)
    await expect.poll(() => visitors[1]!.got.length).toBe(1)
    expect(visitors[0]!.got.map(({ payload }) => payload)).toEqual(['feed', 'c0ffee'])
    expect(visitors[1]!.got).toEqual([{ payload: '', port }])
  })

  test('whose peer takes aggregates gets what came together in one frame', async () => {
    const { port, tunnel } = await site({ aggregates: true })
    const one = visitor(port)
    await vi.waitUntil(() => {
      for (let count = 0; count < 50; count += 1) one.send(`datagram ${count}`)
      return tunnel.datagrams.some((frame) => frame.startsWith('00'))
    }, PATIENT_MS)
    const aggregate = tunnel.datagrams.find((frame) => frame.startsWith('00'))!
    const datagrams = datagramsOf(hex(aggregate)).map((bytes) => decodeDatagram(bytes))
    expect(datagrams.length).toBeGreaterThan(1)
    for (const datagram of datagrams) {
      expect(datagram?.flowId).toBe(1)
      expect(Buffer.from(datagram!.payload).toString()).toMatch(/^datagram \d+$/)
    }
  })

  test('whose peer does not gets each in a frame of its own (protocol §12.2.4)', async () => {
    const { port, tunnel } = await site()
    const one = visitor(port)
    await untilReached(one, tunnel)
    // A busy machine drops some: more of them come until enough have arrived.
    const sendMore = (): number => {
      for (let count = 0; count < 50; count += 1) one.send('together')
      return tunnel.datagrams.length
    }
    await expect.poll(sendMore).toBeGreaterThan(100)
    for (const frame of tunnel.datagrams) expect(frame).toMatch(/^01/)
  })

  test('of a lease with TCP as well: each has its port', async () => {
    const lease = await registered({ udp_enabled: true, tcp_enabled: true })
    expect(lease.tcp_addr).toBeDefined()
    const opened = await openedTunnel()
    expect(await opened.hello(lease.access_token)).toMatchObject({ ok: true })
    const one = visitor(portOf(lease))
    one.send('x')
    await expect.poll(() => opened.datagrams.length).toBe(1)
  })

  test('sends heartbeats back, byte by byte (protocol §12.1.7)', async () => {
    const { tunnel } = await site()
    const answer = tunnel.received()
    tunnel.stream.write('a'.repeat(3000))
    await vi.waitUntil(() => tunnel.received().length === answer.length + 3000, PATIENT_MS)
    expect(tunnel.received().slice(answer.length)).toBe('a'.repeat(3000))
  })

  test('a second one of the lease replaces the first, and visitors keep their flows (protocol §12.1.6)', async () => {
    const { lease, port, tunnel: first } = await site()
    const one = visitor(port)
    one.send('a')
    await expect.poll(() => first.datagrams.length).toBe(1)
    const second = await openedTunnel()
    await second.hello(lease.access_token)
    expect(await first.closed).toMatchObject({ errorCode: 2 })
    one.send('b')
    await expect.poll(() => second.datagrams.length).toBe(1)
    expect(second.datagrams[0]).toBe(`01${Buffer.from('b').toString('hex')}`)
  })
})

describe('a tunnel ends', () => {
  // It is silent for a minute.
  wholeOnly(test, 'clock')(
    'at both sides after 60 s of silence (protocol §12.1.8)',
    async () => {
      const { access_token } = await registered()
      const path = await startUdpPath(relay.port)
      open.push(path)
      const opened = await openTunnel({ ...relay, port: path.port })
      open.push(opened)
      const before = await sample('datagram_tunnels')
      expect(await opened.hello(access_token)).toMatchObject({ ok: true })
      expect(await sample('datagram_tunnels')).toBe(before + 1)
      const from = performance.now()
      path.passes = { there: false, back: false }
      await opened.closed
      expect(performance.now() - from).toBeGreaterThan(55_000)
      await expect.poll(() => sample('datagram_tunnels'), { timeout: 10_000 }).toBe(before)
      expect(performance.now() - from).toBeLessThan(75_000)
    },
    PATIENT_MS * 2,
  )

  test('with its lease', async () => {
    const { lease, tunnel } = await site()
    await relay.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    expect(await tunnel.closed).toMatchObject({ errorCode: 1 })
    const again = await openTunnel(relay)
    open.push(again)
    expect(await again.hello(lease.access_token)).toEqual({ ok: false, error: 'lease_not_found' })
    expect(await again.closed).toMatchObject({ errorCode: 3 })
  })

  test('with a ban of its identity', async () => {
    const { lease, tunnel } = await site()
    const key = `${lease.identity.name}:${lease.identity.address.toLowerCase()}`
    const ban = (is_banned: boolean) =>
      relay.call('POST', '/api/policy/leases', { identity_key: key, is_banned }, ADMIN)
    expect((await ban(true)).status).toBe(200)
    expect(await tunnel.closed).toMatchObject({ errorCode: 1 })
    const again = await openTunnel(relay)
    open.push(again)
    expect(await again.hello(lease.access_token)).toEqual({ ok: false, error: 'lease_rejected' })
    await ban(false)
  })

  test('for a new certificate, and comes back to the same lease and flows', async () => {
    const { lease, port, tunnel: before } = await site()
    const one = visitor(port)
    one.send('a')
    await expect.poll(() => before.datagrams.length).toBe(1)
    const read = async (name: string) => (await readIfPresent(join(relay.directory, name))) ?? ''
    const authority = { certificate: await read('ca.pem'), key: await read('ca-key.pem') }
    const leaf = createLeaf(authority, ROOT_HOST)
    await writeFile(join(relay.directory, 'privatekey.pem'), leaf.key)
    await writeFile(join(relay.directory, 'fullchain.pem'), leaf.chain)
    expect(await before.closed).toMatchObject({ errorCode: 0 })
    const after = await vi.waitFor(() => openTunnel(relay), PATIENT_MS)
    open.push(after)
    expect(await after.hello(lease.access_token)).toMatchObject({ ok: true })
    one.send('b')
    await expect.poll(() => after.datagrams.length).toBe(1)
    expect(after.datagrams[0]).toBe(`01${Buffer.from('b').toString('hex')}`)
  })
})

describe('who is not let in', () => {
  test.each<[string, string, string]>([
    ['no JSON object of ours', '{"token":"x"}', 'invalid_request'],
    ['a token that is no string', '{"access_token":7}', 'invalid_request'],
    ['no token of this relay', '{"access_token":"a.b.c"}', 'unauthorized'],
    ['an array', '[{}]{"a":1}'.repeat(400), 'invalid_request'],
  ])('a hello with %s (protocol §12.1.3, §12.1.4)', async (_name, hello, error) => {
    const opened = await openedTunnel()
    opened.stream.write(hello)
    await expect.poll(() => opened.received()).not.toBe('')
    expect(JSON.parse(opened.received())).toEqual({ ok: false, error })
  })

  test('a stream that ends before its hello is whole', async () => {
    const opened = await openedTunnel()
    opened.stream.end('{"access_token":"')
    await expect.poll(() => opened.received()).not.toBe('')
    expect(JSON.parse(opened.received())).toEqual({ ok: false, error: 'invalid_json' })
    expect(await opened.closed).toMatchObject({ errorCode: 3, reason: 'invalid_json' })
  })

  test('a reverse capability, and a lease without UDP (protocol §12.1.4)', async () => {
    const lease = await registered({})
    const one = await openedTunnel()
    expect(await one.hello(lease.reverse_endpoint.capability)).toEqual({ ok: false, error: 'unauthorized' })
    const other = await openedTunnel()
    expect(await other.hello(lease.access_token)).toEqual({ ok: false, error: 'transport_mismatch' })
  })

  test('another ALPN, and nobody else notices (protocol §12.1.1)', async () => {
    const { port, tunnel } = await site()
    await expect(openTunnel(relay, 'h3')).rejects.toThrow()
    await untilReached(visitor(port), tunnel)
  })

  test('more connections without a token than 16 from one network (protocol §12.1.5)', async () => {
    const many = await Promise.all(Array.from({ length: 16 }, () => openedTunnel()))
    const more = await openTunnel(relay)
    open.push(more)
    expect(await more.closed).toMatchObject({ errorCode: 4 })
    const lease = await registered()
    expect(await many[0]!.hello(lease.access_token)).toMatchObject({ ok: true })
    // one has a lease now: there is room for another
    const next = await openedTunnel()
    expect(await next.hello('x')).toEqual({ ok: false, error: 'unauthorized' })
  })
})

describe('what is dropped, and counted', () => {
  test('datagrams before the token (protocol §12.1.5)', async () => {
    const lease = await registered()
    const opened = await openedTunnel()
    const one = visitor(portOf(lease))
    await untilDropped('unauthenticated', () => opened.session.sendDatagram(hex('01c0ffee')))
    await untilDropped('no_tunnel', () => one.send('nobody is there'))
    expect(one.got).toEqual([])
    expect(await opened.hello(lease.access_token)).toMatchObject({ ok: true })
  })

  test('unknown flows and truncated ids: nothing goes to an address that has not sent (protocol §12.2.2)', async () => {
    const { port, tunnel } = await site()
    const one = visitor(port)
    const send = (text: string) => () => tunnel.session.sendDatagram(hex(text))
    await untilDropped('unknown_flow', send('01c0ffee'))
    one.send('x')
    await expect.poll(() => tunnel.datagrams.length).toBeGreaterThan(0)
    await untilDropped('unknown_flow', send('02c0ffee'))
    for (const text of ['80', '00c0ffee', '00', 'ffffffff1f', '8100'])
      await untilDropped('malformed', send(text))
    expect(one.got).toEqual([])
  })

  test('flows of one lease are nothing to another', async () => {
    const [ours, theirs] = [await site(), await site()]
    const one = visitor(ours.port)
    one.send('x')
    await expect.poll(() => ours.tunnel.datagrams.length).toBe(1)
    await untilDropped('unknown_flow', () => theirs.tunnel.session.sendDatagram(hex('01bad0')))
    expect(one.got).toEqual([])
  })

  test('larger ones than the path takes (protocol §12.2.3)', async () => {
    const { port, tunnel } = await site()
    const one = visitor(port)
    // loopback takes up to 16383 bytes of QUIC
    await untilDropped('too_large', () => one.send(Buffer.alloc(16_500)))
    expect(tunnel.datagrams).toEqual([])
  })

  test('replies beyond three times what came from an address that has not answered', async () => {
    const { port, tunnel } = await site()
    const one = visitor(port)
    one.send('x')
    await expect.poll(() => tunnel.datagrams.length).toBe(1)
    const reply = (bytes: number) => Buffer.concat([hex('01'), Buffer.alloc(bytes)])
    for (let count = 0; count < 16; count += 1) tunnel.session.sendDatagram(reply(1024))
    await untilDropped('amplification', () => tunnel.session.sendDatagram(reply(4)))
    for (let count = 0; count < 16; count += 1) tunnel.session.sendDatagram(reply(1))
    await untilDropped('amplification', () => tunnel.session.sendDatagram(reply(0)))
    await expect.poll(() => one.got.length).toBe(3)
    expect(one.got.map(({ payload }) => payload)).toEqual(['00', '00', '00'])
  })

  test('bytes beyond what the identity may transfer', async () => {
    const { lease, port, tunnel } = await site()
    const key = `${lease.identity.name}:${lease.identity.address.toLowerCase()}`
    const limit = (bps: number) => relay.call('POST', '/api/policy/leases', { identity_key: key, bps }, ADMIN)
    await limit(1000)
    const one = visitor(port)
    await untilDropped('bandwidth', () => one.send(Buffer.alloc(1000)))
    await limit(0)
    const before = tunnel.datagrams.length
    await vi.waitUntil(() => {
      one.send('x')
      return tunnel.datagrams.length > before
    }, PATIENT_MS)
  })

  test('a stream that is more than heartbeats ends the tunnel (protocol §12.1.7)', async () => {
    const { tunnel } = await site()
    tunnel.stream.write(Buffer.alloc(50 * 1024))
    expect(await tunnel.closed).toMatchObject({ errorCode: 5 })
  })
})

describe('a flood', () => {
  test('of half-open handshakes, noise and scans: the tunnel next to it carries on', async () => {
    const { port, tunnel } = await site()
    const initial = Buffer.alloc(1200)
    // a long header of QUIC version 1, type Initial, with connection ids of 8 bytes (RFC 9000 §17.2.2)
    hex('c000000001').copy(initial)
    const flood = createSocket('udp4')
    open.push(flood)
    for (let count = 0; count < 2000; count += 1) {
      const packet = Buffer.from(initial)
      packet[5] = 8
      packet.writeUInt32BE(count, 6)
      packet[14] = 8
      packet.writeUInt32BE(count, 15)
      flood.send(packet, relay.port, '127.0.0.1')
      flood.send(packet.subarray(0, count % 1200), relay.port, '127.0.0.1')
      if (count % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    for (let scanned = first; scanned < first + PORTS; scanned += 1)
      if (scanned !== port) flood.send('scan', scanned, '127.0.0.1')
    const one = visitor(port)
    await untilReached(one, tunnel)
    const lease = await registered()
    expect(await (await openedTunnel()).hello(lease.access_token)).toMatchObject({ ok: true })
  })
})
