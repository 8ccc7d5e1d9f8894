// The datagram tunnel over a bad network: losses, swapped packets, a path that swallows large ones, and false relays.

import { randomBytes } from 'node:crypto'
import { Duplex } from 'node:stream'
import { createQuicServer } from '@currentspace/http3'
import { DATAGRAM_ALWAYS_BYTES, encodeAggregate, encodeDatagram, PATH, TUNNEL_ALPN } from '@svc/protocol'
import { type FetchFunction, publishOn } from '@svc/sdk-core'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { WAIT_TIMEOUT_MS } from '../../../tools/test-timeouts.ts'
import { datagramCarrier } from '../../src/datagram/datagram-carrier.ts'
import { LocalFlows } from '../../src/datagram/local-flows.ts'
import { dialQuic } from '../../src/datagram/quic.ts'
import type { DialQuic } from '../../src/datagram/quic-in-worker.ts'
import { HEARTBEAT_DEADLINE_MS, openTunnel } from '../../src/datagram/tunnel.ts'
import { nodePlatform } from '../../src/platform.ts'
import { TCP_PORTS, TCP_SETTINGS, TEST_TIMEOUT_MS, withTunnel } from '../support/exposed.ts'
import { freePort, freeRange, startTestRelay, type TestRelay } from '../support/relay.ts'
import { echo, type Network, startNetwork, type UdpService, UdpVisitor, udpService } from '../support/udp.ts'

let relay: TestRelay
let network: Network
let service: UdpService
let origin: string
beforeAll(async () => {
  const port = await freePort()
  origin = `https://relay.localhost:${port}`
  relay = await startTestRelay({
    ...TCP_SETTINGS(await freeRange(TCP_PORTS)),
    UDP_ENABLED: 'true',
    SVC_URL: origin,
  })
  network = await startNetwork(port, relay.port)
  service = await udpService(echo)
})
afterAll(async () => {
  service.close()
  network.close()
  await relay.close()
})

const open: (() => unknown)[] = []
afterEach(async () => {
  network.impair({})
  for (const close of open.splice(0).reverse()) await close()
})

/** A heart that beats more often than a user's: what it finds is the same. */
const PULSE = { everyMs: 700, deadlineMs: HEARTBEAT_DEADLINE_MS }
/** A heart that is not waited for as long, where it has to miss a beat. */
const HASTY_PULSE = { everyMs: 700, deadlineMs: 2_500 }

const published = (pulse = PULSE, tunnelAddress?: string) =>
  withTunnel(() => publishedOnce(pulse, tunnelAddress))

/** @param tunnelAddress what the answer to the registration has as `udp_tunnel_addr` */
async function publishedOnce(pulse = PULSE, tunnelAddress?: string) {
  const { ca } = relay
  const target = { host: '127.0.0.1', port: service.port }
  const identity = Uint8Array.from(randomBytes(32))
  const node = nodePlatform({ ca, identity, carrier: 'native' })
  const platform = {
    ...node,
    ...(tunnelAddress && { fetch: registeringAt(tunnelAddress, node.fetch) }),
    openDatagrams: datagramCarrier(target, { ca, onError: () => {}, pulse }),
  }
  const name = `t${randomBytes(6).toString('hex')}`
  const site = await publishOn(platform, { relay: origin, name, identity, fetch: () => new Response() })
  open.push(() => site.close())
  const visitor = new UdpVisitor(Number(site.udpAddress!.split(':').at(-1)))
  open.push(() => visitor.socket.close())
  return { site, visitor }
}

function registeringAt(udp_tunnel_addr: string, fetch: FetchFunction): FetchFunction {
  return async (url, init) => {
    const answer = await fetch(url, init)
    if (!url.endsWith(PATH.register) || !answer.ok) return answer
    const { ok, data } = await new Response(answer.body).json()
    return Response.json({ ok, data: { ...data, udp_tunnel_addr } })
  }
}

describe('a relay that names where the tunnel of a lease comes in', () => {
  it.each(['machine-2.localhost', '127.0.0.1'])(
    'is dialed there, at %s, while the certificate is that of its own host (protocol §12.1.2)',
    async (host) => {
      // no UDP passes to the relay's authority
      network.impair({ loss: 1 })
      const { passed } = network
      const { site, visitor } = await published(PULSE, `${host}:${relay.port}`)
      await visitor.ask('there and back')
      expect(site.datagramStats()!.tunnels).toBe(1)
      expect(network.passed).toBe(passed)
    },
  )

  it('gets no token from a site where another certificate is shown', async () => {
    const stranger = createQuicServer({
      cert: CERTIFICATE_PEM,
      key: PRIVATE_KEY_PEM,
      alpn: [TUNNEL_ALPN],
      runtimeMode: 'portable',
      enableDatagrams: true,
    })
    stranger.on('error', () => {})
    open.push(() => stranger.close())
    const streams = vi.fn()
    stranger.on('session', (session) => session.on('error', () => {}).on('stream', streams))
    const { port } = await stranger.listen(0, '127.0.0.1')
    await expect(publishedOnce(PULSE, `127.0.0.1:${port}`)).rejects.toMatchObject({
      code: 'tunnel_unreachable',
    })
    expect(streams).not.toHaveBeenCalled()
  })
})

describe('over a bad network', () => {
  it.each([
    ['loses every fifth packet', { loss: 0.2 }],
    ['swaps every third', { reorder: 0.33 }],
    ['doubles every third', { duplicate: 0.33 }],
    ['does all of that', { loss: 0.1, reorder: 0.2, duplicate: 0.2 }],
  ])('that %s, datagrams pass or are lost, and none is another', async (_name, impairment) => {
    const { visitor } = await published()
    network.impair(impairment)
    for (let count = 0; count < 10; count += 1) await visitor.ask(`payload ${count}`)
    for (const payload of visitor.got) expect(String(payload)).toMatch(/^payload \d$/)
  })

  it('of 1280 bytes from the start, 1149 bytes pass', async () => {
    network.impair({ mtu: 1252 })
    const { site, visitor } = await published()
    const payload = Buffer.alloc(1149, 1)
    expect(await visitor.ask(payload)).toEqual(payload)
    expect(site.datagramStats()!.tunnels).toBe(1)
  })

  it('that begins to swallow large packets, the heartbeat notices, and a new tunnel fits', async () => {
    const { site, visitor } = await published(HASTY_PULSE)
    const payload = Buffer.alloc(1149, 2)
    await visitor.ask(payload)
    const failures: string[] = []
    site.addEventListener('error', ({ error }) => failures.push(error.message))
    network.impair({ mtu: 1252 })
    await vi.waitUntil(() => site.datagramStats()!.tunnels > 1)
    expect(failures[0]).toBe('the datagram tunnel ended: large packets do not pass')
    const before = visitor.got.length
    expect(await visitor.ask(payload)).toEqual(payload)
    expect(visitor.got.length).toBeGreaterThan(before)
  })

  it('that takes 200 to 250 ms each way, one tunnel carries it all, and no heartbeat is missed', async () => {
    network.impair({ delay: 200, jitter: 50 })
    const { site, visitor } = await published()
    const start = performance.now()
    await visitor.ask('there and back')
    expect(performance.now() - start).toBeGreaterThan(400)
    const payload = Buffer.alloc(1149, 3)
    expect(await visitor.ask(payload)).toEqual(payload)
    const passed = network.passed
    // a heartbeat is three packets at least, and comes back
    await expect.poll(() => network.passed - passed).toBeGreaterThan(6)
    expect(site.datagramStats()).toMatchObject({ tunnels: 1, dropped: {} })
  })

  it('that gives the SDK another address, visitors keep their flow or the tunnel comes back', async () => {
    const { visitor } = await published()
    await visitor.ask('before')
    await network.rebind()
    await visitor.ask('after')
  })

  it('that lets no UDP through, publishing says so', async () => {
    network.impair({ loss: 1 })
    await expect(publishedOnce()).rejects.toMatchObject({ code: 'tunnel_unreachable' })
  })
})

describe('a QUIC connection', () => {
  const at = (options: object = {}) =>
    dialQuic(
      { address: '127.0.0.1', port: relay.port, servername: 'relay.localhost', ca: relay.ca, ...options },
      { datagram: () => {}, dropped: () => {}, closed: () => {} },
      AbortSignal.timeout(WAIT_TIMEOUT_MS),
    )

  it('is made with a relay that the CA vouches for', async () => {
    const connection = await withTunnel(at)
    expect(connection.datagramMaxBytes).toBeGreaterThanOrEqual(1150)
    connection.close()
    expect(connection.send(new Uint8Array(1))).toBe(false)
  })

  it('is refused with the CA of another, with the system’s, and for another name', async () => {
    for (const options of [{ ca: CERTIFICATE_PEM }, { ca: undefined }, { servername: 'relay.example' }])
      await expect(at(options)).rejects.toMatchObject({ code: 'tunnel_unreachable' })
  })
})

describe('what the service sends at once', () => {
  /** Opens a tunnel to a relay that answers the token with `answer`. @returns the frames of three datagrams, and the hello */
  async function framesOf(answer: object) {
    const frames: Uint8Array[] = []
    const hello: Buffer[] = []
    const stream = new Duplex({
      read: () => {},
      write: (bytes: Buffer, _encoding, done) => {
        hello.push(bytes)
        if (hello.length === 1) stream.push(JSON.stringify(answer))
        done()
      },
    })
    const dial: DialQuic = async () => ({
      stream,
      datagramMaxBytes: DATAGRAM_ALWAYS_BYTES,
      send: (bytes) => frames.push(bytes) > 0,
      ping: () => {},
      close: () => {},
    })
    const target = { address: '127.0.0.1', port: 1, servername: 'relay.localhost', ca: undefined }
    const events = { datagram: () => {}, flow: () => {}, dropped: () => {}, ended: () => {} }
    const signal = AbortSignal.timeout(TEST_TIMEOUT_MS)
    const tunnel = await openTunnel(target, 'token', events, signal, PULSE, dial)
    for (const payload of THREE) tunnel.send(payload)
    await new Promise(setImmediate)
    tunnel.close()
    return { frames, hello: JSON.parse(String(hello[0])) }
  }
  const THREE = [1, 2, 3].map((flowId) => encodeDatagram(flowId, Buffer.from('x')))

  it('leaves together to a relay that takes aggregates', async () => {
    const { frames, hello } = await framesOf({ ok: true, heartbeat: true, aggregates: true })
    expect(hello).toEqual({ access_token: 'token', aggregates: true })
    expect(frames).toEqual([encodeAggregate(THREE)])
  })

  it('leaves one by one to a relay of before', async () => {
    expect((await framesOf({ ok: true })).frames).toEqual(THREE)
  })
})

describe('LocalFlows', () => {
  it('has so many sockets and no more: the most silent visitor makes room', async () => {
    const answers: string[] = []
    const flows = new LocalFlows(
      { address: '127.0.0.1', family: 4, port: service.port },
      {
        answered: (flowId, payload) => answers.push(`${flowId} ${payload}`),
        dropped: () => {},
        failed: () => {},
      },
      2,
    )
    for (const flowId of [1, 2, 3]) {
      flows.deliver(flowId, Buffer.from('hello'))
      await vi.waitUntil(() => answers.length === flowId)
    }
    expect(flows.size).toBe(2)
    expect(answers).toEqual(['1 hello', '2 hello', '3 hello'])
    flows.close()
    expect(flows.size).toBe(0)
  })

  it('keeps 16 datagrams of a visitor while its socket is being connected', () => {
    let dropped = 0
    const flows = new LocalFlows(
      { address: '127.0.0.1', family: 4, port: service.port },
      { answered: () => {}, dropped: () => (dropped += 1), failed: () => {} },
    )
    for (let count = 0; count < 20; count += 1) flows.deliver(1, Buffer.from('x'))
    expect(dropped).toBe(4)
    flows.close()
  })
})
