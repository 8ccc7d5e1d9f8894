// `expose` of local UDP services at a real relay: echo, DNS, many visitors, and what happens when the relay goes away.

import { execFileSync, spawn } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectQuic, createQuicServer } from '@currentspace/http3'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import type { Exposure, SvcError } from '../../src/index.ts'
import { exposeAt, listening, TCP_PORTS, TCP_SETTINGS, tcpServer, text, visit } from '../support/exposed.ts'
import { freePort, freeRange, startTestRelay, type TestRelay } from '../support/relay.ts'
import { reported, runHere } from '../support/svc.ts'
import { echo, UdpVisitor, udpService } from '../support/udp.ts'

let relay: TestRelay
beforeAll(async () => {
  const ports = TCP_SETTINGS(await freeRange(TCP_PORTS))
  // Some visitors come by IPv6: a relay on localhost listens at 127.0.0.1 alone by itself.
  relay = await startTestRelay({ ...ports, UDP_ENABLED: 'true', BIND_ADDRESS: '::' })
})
afterAll(() => relay.close())

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

type Service = Parameters<typeof udpService>

async function exposeUdp(options: object = {}, ...[answer = echo, type]: Partial<Service>) {
  const service = await udpService(answer, type)
  open.push(service.close)
  const exposure = await exposeAt(relay, { udp: service.port, ...options })
  open.push(() => exposure.close())
  return { service, exposure, site: exposure.sites[0]! }
}

const portOf = ({ sites }: Exposure): number => Number(sites[0]!.udpAddress!.split(':').at(-1))

function visitorOf(exposure: Exposure, type?: 'udp4' | 'udp6'): UdpVisitor {
  const visitor = new UdpVisitor(portOf(exposure), type)
  open.push(() => visitor.socket.close())
  return visitor
}

describe('a UDP service', () => {
  it('answers its visitors, and sees each of them as a client of its own', async () => {
    const { service, exposure, site } = await exposeUdp()
    const visitors = [visitorOf(exposure), visitorOf(exposure), visitorOf(exposure, 'udp6')]
    for (const [at, visitor] of visitors.entries())
      expect(String(await visitor.ask(`from ${at}`))).toBe(`from ${at}`)
    expect(service.clients.size).toBe(3)
    await visitors[0]!.ask('again')
    expect(service.clients.size).toBe(3)
    expect(site.datagramStats()).toMatchObject({ flows: 3, tunnels: 1, dropped: {} })
    expect(site.datagramStats()!.sent).toBeGreaterThanOrEqual(4)
  })

  it('of IPv6 is reached by IPv6', async () => {
    const service = await udpService(echo, 'udp6')
    open.push(service.close)
    const exposure = await exposeAt(relay, { udp: `[::1]:${service.port}` })
    open.push(() => exposure.close())
    expect(String(await visitorOf(exposure).ask('six'))).toBe('six')
  })

  it('gets and sends payloads of 1149 bytes and of none', async () => {
    const { exposure } = await exposeUdp()
    const visitor = visitorOf(exposure)
    const large = Buffer.alloc(1149, 0xa5)
    expect(await visitor.ask(large)).toEqual(large)
    expect(await visitor.ask('')).toEqual(Buffer.alloc(0))
  })

  wholeOnly(it, 'variant')('stands beside a web server and a TCP service of the same site', async () => {
    const http = createServer((_, response) => void response.end('web'))
    const tcp = tcpServer((socket) => void socket.end('tcp'))
    open.push(
      () => http.close(),
      () => tcp.close(),
    )
    const { exposure, site } = await exposeUdp({ http: await listening(http), tcp: await listening(tcp) })
    expect(await text(await visit(relay, site.url))).toBe('web')
    const socket = connect(Number(site.tcpAddress!.split(':').at(-1)), '127.0.0.1')
    expect(String((await once(socket, 'data'))[0])).toBe('tcp')
    socket.destroy()
    expect(String(await visitorOf(exposure).ask('udp'))).toBe('udp')
  })

  it('that is down is told of', async () => {
    const failures: SvcError[] = []
    const { service, exposure } = await exposeUdp({
      onTargetError: (error: SvcError) => failures.push(error),
    })
    service.close()
    open.splice(0, 1)
    const visitor = visitorOf(exposure)
    await vi.waitUntil(() => {
      visitor.send('anybody?')
      return failures.length > 0
    })
    expect(failures[0]).toMatchObject({ code: 'target_unreachable' })
  })
})

const hasDnsmasq = ((): boolean => {
  try {
    execFileSync('dnsmasq', ['--version'])
    return true
  } catch {
    return false
  }
})()

describe.skipIf(!hasDnsmasq)('a real DNS server, dnsmasq', () => {
  it('answers a real resolver, c-ares', async () => {
    const port = await freePort()
    const records = [
      '--address=/game.test/192.0.2.7',
      `--txt-record=long.test,${'x'.repeat(200)},${'y'.repeat(200)}`,
    ]
    const quiet = ['--no-daemon', '--no-resolv', '--no-hosts', '--conf-file=/dev/null', '--bind-interfaces']
    const server = spawn('dnsmasq', [...quiet, ...records, `--port=${port}`, '--listen-address=127.0.0.1'])
    open.push(() => server.kill('SIGKILL'))
    const exposure = await exposeAt(relay, { udp: port })
    open.push(() => exposure.close())
    const resolver = new Resolver({ timeout: 500, tries: 20 })
    resolver.setServers([`127.0.0.1:${portOf(exposure)}`])
    // It asks each question from another port: what has come back so far shows that its address is not forged.
    for (let count = 0; count < 9; count += 1) {
      expect(await resolver.resolve4('game.test')).toEqual(['192.0.2.7'])
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
    expect(await resolver.resolveTxt('long.test')).toEqual([['x'.repeat(200), 'y'.repeat(200)]])
  })
})

describe('a QUIC server', () => {
  it('is reached through the port, and sends 4 MiB to a client that only acknowledges', async () => {
    const BYTES = 4 * 1024 * 1024
    const server = createQuicServer({
      key: PRIVATE_KEY_PEM,
      cert: CERTIFICATE_PEM,
      alpn: ['bulk'],
      runtimeMode: 'portable',
    })
    server.on('error', () => {})
    server.on('session', (session) => {
      session.on('error', () => {})
      session.on('stream', (stream) => {
        stream.on('error', () => {}).resume()
        stream.end(Buffer.alloc(BYTES))
      })
    })
    const { port } = await server.listen(0, '127.0.0.1')
    open.push(() => server.close())
    const exposure = await exposeAt(relay, { udp: port })
    open.push(() => exposure.close())
    const client = connectQuic(
      { address: '127.0.0.1', port: portOf(exposure), servername: 'relay.localhost' },
      { ca: CERTIFICATE_PEM, alpn: ['bulk'], runtimeMode: 'portable', maxUdpPayloadSize: 1149 },
    )
    open.push(() => client.close())
    client.on('error', () => {})
    await client.ready()
    const stream = client.openStream()
    stream.end('send it')
    let got = 0
    for await (const bytes of stream) got += bytes.length
    expect(got).toBe(BYTES)
  })
})

describe('a tunnel', () => {
  /** Seconds: the half of it, in which a renewal has to come, is much on any machine. */
  const TTL_S = 6

  wholeOnly(it, 'clock')('outlives the token that opened it, as long as the lease is renewed', async () => {
    const { exposure, site } = await exposeUdp({ ttl: TTL_S })
    const visitor = visitorOf(exposure)
    await visitor.ask('first')
    await new Promise((resolve) => setTimeout(resolve, (TTL_S + 1) * 1_000))
    expect(String(await visitor.ask('later'))).toBe('later')
    expect(site.datagramStats()!.tunnels).toBe(1)
  })

  wholeOnly(it, 'faults')('comes back when the relay was restarted, at the same address', async () => {
    const { exposure, site } = await exposeUdp()
    const address = site.udpAddress
    const visitor = visitorOf(exposure)
    await visitor.ask('before')
    await relay.kill()
    await relay.start()
    expect(String(await visitor.ask('after'))).toBe('after')
    expect(site.udpAddress).toBe(address)
    expect(site.datagramStats()!.tunnels).toBeGreaterThan(1)
  })
})

describe('wrong use', () => {
  it.each(['nowhere', 'localhost', 'localhost:0', 'http://localhost:1', '1:2:3'])('udp: %s', async (udp) => {
    await expect(exposeAt(relay, { udp })).rejects.toMatchObject({ code: 'invalid_option' })
  })

  it('a relay that gives no UDP ports', async () => {
    const policy = (enabled: boolean) =>
      relay.call('/api/policy', {
        approval_mode: 'auto',
        landing_page_enabled: true,
        udp: { enabled, max_leases: 0 },
        tcp_port: { enabled: true, max_leases: 0 },
      })
    await policy(false)
    open.push(() => policy(true))
    await expect(exposeAt(relay, { udp: 53 })).rejects.toMatchObject({ code: 'udp_disabled' })
  })
})

it('svc expose --udp says where, and serves', async () => {
  const home = await mkdtemp(join(tmpdir(), 'svc-udp-'))
  open.push(() => rm(home, { recursive: true }))
  const service = await udpService(echo)
  open.push(service.close)
  const at = ['--relay', relay.origin, '--ca', relay.caFile]
  const run = runHere(home, ['expose', '--udp', String(service.port), '--json', ...at])
  open.push(run.stop)
  const { udp_address } = await reported(run, 'online')
  const visitor = new UdpVisitor(Number(udp_address!.split(':').at(-1)))
  open.push(() => visitor.socket.close())
  expect(String(await visitor.ask('hello'))).toBe('hello')
  run.interrupt()
  expect(await run.ended).toBe(0)
})
