// Visitors who come in at a machine that has no session of the site: another one serves them, and no byte passes Redis.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { MARKER, type RegisterResponse } from '@svc/protocol'
import { parseProxyHeader } from '@svc/protocol/proxy-protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { freeRange } from '../../../tools/network/free-port.ts'
import { isListening } from '../../../tools/network/is-listening.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { createLeaf } from '../../src/core/certificates/development-ca.ts'
import { UPGRADE_HEADERS } from '../support/api-socket.ts'
import { openCarrier } from '../support/carrier.ts'
import {
  ADMIN,
  ADMIN_TOKEN,
  type ClusterRelay,
  type ClusterRelays,
  machinesSeenBy,
  startClusterRelays,
  whyNoRedis,
} from '../support/cluster-relays.ts'
import { askSite } from '../support/live-visitor.ts'
import { contentOf, monitorRedis } from '../support/redis-monitor.ts'
import { newAccount, readAll } from '../support/relay.ts'
import { CARRIERS, nativeSession, type TestSession } from '../support/session.ts'
import { nodeHttp, openTlsSite, type TlsSite } from '../support/tls-site.ts'

const PORTS = 4

let cluster: ClusterRelays
let a: ClusterRelay
let b: ClusterRelay
let c: ClusterRelay
const portsOf = new Map<number, number>()

/** A site at one machine, which answers with the path that is asked for, and with the body. */
async function openSite(
  relay: ClusterRelay,
  lease: RegisterResponse,
  ready?: number,
): Promise<TlsSite & { url: string }> {
  const read = (name: string): Promise<string> => readFile(join(relay.directory, name), 'utf8')
  const authority = { certificate: await read('ca.pem'), key: await read('ca-key.pem') }
  const { chain: cert, key } = createLeaf(authority, lease.hostname, [lease.hostname])
  const { serve } = nodeHttp(async (request, response) => {
    response.write(`${request.url} `)
    request.pipe(response)
  })
  const site = await openTlsSite(relay, lease.reverse_endpoint.capability, {
    cert,
    key,
    serve,
    ...(ready !== undefined && { ready }),
  })
  return { ...site, url: `https://${lease.hostname}:${relay.port}` }
}

/** Reads what comes until that many bytes are there. */
async function take(socket: Socket, length: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  for (let size = 0; size < length; ) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    chunks.push(chunk)
    size += chunk.length
  }
  return Buffer.concat(chunks)
}

async function rawVisitor(session: TestSession): Promise<void> {
  let marker = await session.read(1)
  while (marker[0] === MARKER.keepalive) marker = await session.read(1)
  expect(marker[0]).toBe(MARKER.raw)
}

const portOf = ({ tcp_addr }: RegisterResponse): number => Number(tcp_addr?.split(':')[1])
describe.skipIf(whyNoRedis() !== undefined)(`three machines (skipped: ${whyNoRedis()})`, () => {
  beforeAll(async () => {
    cluster = await startClusterRelays(3, async (index) => {
      portsOf.set(index, await freeRange(PORTS))
      const first = portsOf.get(index)!
      return {
        TRUSTED_PROXIES: '127.0.0.1',
        TCP_ENABLED: 'true',
        MIN_PORT: `${first}`,
        MAX_PORT: `${first + PORTS - 1}`,
        PORT_HOST: `machine-${index}.relay.localhost`,
      }
    })
    ;[a, b, c] = cluster.relays as [ClusterRelay, ClusterRelay, ClusterRelay]
    const open = { enabled: true, max_leases: 0 }
    const policy = {
      approval_mode: 'auto',
      landing_page_enabled: true,
      udp: { ...open, enabled: false },
      tcp_port: open,
    }
    expect((await a.call('POST', '/api/policy', policy, ADMIN)).status).toBe(200)
  })
  afterAll(() => cluster?.close())

  test('each knows the others, and reaches them', async () => {
    const online = cluster.relays.map(({ machine }) => `${machine} online`).sort()
    for (const relay of cluster.relays) expect((await machinesSeenBy(relay)).sort()).toEqual(online)
  })

  test('a visitor of one is served by a site of another, with every byte of request and response', async () => {
    const lease = await a.register('web')
    const site = await openSite(a, lease)
    const body = randomBytes(300_000).toString('base64')
    for (const relay of cluster.relays) {
      const answer = await askSite(relay, site, '/path', { method: 'POST' }, body)
      expect([answer.status, answer.text === `/path ${body}`]).toEqual([200, true])
    }
    // All of them at once, over the kept links.
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, at) => askSite(cluster.relays[at % 3]!, site, `/${at}`)),
    )
    expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 60 }, (_, at) => `/${at} `))
    await site.close()
  })

  test('a visitor who comes before the session of another machine waits for it', async () => {
    const lease = await a.register('later')
    const visitor = askSite(b, { url: `https://${lease.hostname}:${b.port}` }, '/waited')
    const site = await openSite(c, lease)
    expect((await visitor).text).toBe('/waited ')
    await site.close()
  })

  test('a site whose machine has sessions serves there, and one without any is given the visitor of nobody', async () => {
    const lease = await a.register('both')
    const [here, there] = [await openSite(b, lease), await openSite(c, lease)]
    for (let i = 0; i < 5; i++) await askSite(b, here, '/')
    expect([here.connections.length, there.connections.length]).toEqual([5, 0])
    await here.close()
    await expect.poll(async () => (await askSite(b, there, '/there')).text).toBe('/there ')
    expect(there.connections.length).toBeGreaterThan(0)
    await there.close()
  })

  test('the ClientHello and the binding of a visitor elsewhere come to the session as they were', async () => {
    const lease = await a.register('literal')
    const carrier = await openCarrier(a, lease.reverse_endpoint.capability)
    const { read } = await carrier.open(lease.reverse_endpoint.capability)
    expect(await read(1)).toEqual(Buffer.of(0))
    const hello = await captureHello(lease.hostname)
    const visitor = await c.tcp()
    visitor.write(hello)
    let marker = await read(1)
    while (marker[0] === MARKER.keepalive) marker = await read(1)
    expect(marker[0]).toBe(MARKER.tls)
    await read(16)
    expect(await read(hello.length)).toEqual(hello)
    visitor.destroy()
    carrier.socket.terminate()
  })

  test('of a name that no site has, a visitor gets the same alert as at a relay of one machine', async () => {
    const visitor = await b.tcp()
    visitor.write(await captureHello('nobody.relay.localhost'))
    // RFC 8446 §6.2: unrecognized_name.
    expect(await readAll(visitor)).toEqual(Buffer.of(21, 3, 3, 0, 2, 2, 112))
  })

  test('a dedicated port is open at the machine that gave it, by its PORT_HOST, and the session may be elsewhere', async () => {
    const lease = await b.register('port', { tcp_enabled: true })
    expect(lease.tcp_addr).toBe(`machine-1.relay.localhost:${portOf(lease)}`)
    expect(portOf(lease)).toBeGreaterThanOrEqual(portsOf.get(1)!)
    const session = await nativeSession(c, lease.reverse_endpoint.capability, UPGRADE_HEADERS)
    const visitor = connect(portOf(lease), '127.0.0.1')
    await rawVisitor(session)
    visitor.write('question')
    expect(String(await session.read(8))).toBe('question')
    await session.write(Buffer.from('answer'))
    expect(String(await take(visitor, 6))).toBe('answer')
    // Half of the connection ends before the other.
    visitor.end()
    expect(await session.read(1)).toEqual(Buffer.alloc(0))
    await session.write(Buffer.from('and more'))
    expect(String(await take(visitor, 8))).toBe('and more')
    await session.end()
    await once(visitor, 'close')
  })

  test('the site learns the address of a visitor who came in at another machine', async () => {
    const lease = await b.register('addresses', {
      tcp_enabled: true,
      extensions: ['visitor_address', 'unknown'],
    })
    const localAddress = '127.0.0.44'
    const headerOf = async (session: TestSession): Promise<Buffer> =>
      await session.read((await session.read(2)).readUInt16BE(0))
    const atPort = await nativeSession(c, lease.reverse_endpoint.capability, UPGRADE_HEADERS)
    const visitor = connect({ port: portOf(lease), host: '127.0.0.1', localAddress })
    await rawVisitor(atPort)
    expect(parseProxyHeader(await headerOf(atPort))).toEqual({
      source: { address: localAddress, port: visitor.localPort },
      destination: { address: '127.0.0.1', port: portOf(lease) },
      traceId: expect.any(Uint8Array),
    })
    visitor.destroy()
    const hello = await captureHello(lease.hostname)
    const atHost = await nativeSession(c, lease.reverse_endpoint.capability, UPGRADE_HEADERS)
    const secure = connect({ port: a.port, host: '127.0.0.1', localAddress })
    secure.write(hello)
    while ((await atHost.read(1))[0] !== MARKER.tls);
    await atHost.read(16)
    expect(parseProxyHeader(await headerOf(atHost)).source).toEqual({
      address: localAddress,
      port: secure.localPort,
    })
    expect(await atHost.read(hello.length)).toEqual(hello)
    secure.destroy()
  })

  test('a session that breaks off resets the visitor of a dedicated port at the other machine', async () => {
    const lease = await b.register('reset', { tcp_enabled: true })
    const [, open] = CARRIERS[0]!
    const session = await open(a, lease.reverse_endpoint.capability)
    const visitor = connect(portOf(lease), '127.0.0.1')
    await rawVisitor(session)
    await session.write(Buffer.from('a part'))
    expect(String(await take(visitor, 6))).toBe('a part')
    const broken = once(visitor, 'end').then(String, ({ code }) => code)
    session.abort()
    expect(await broken).toBe('ECONNRESET')
  })

  test('a visitor who resets a dedicated port resets the session at the other machine', async () => {
    const lease = await b.register('resets', { tcp_enabled: true })
    const carrier = await openCarrier(a, lease.reverse_endpoint.capability)
    const { stream, read } = await carrier.open(lease.reverse_endpoint.capability)
    await read(1)
    const visitor = connect(portOf(lease), '127.0.0.1')
    while ((await read(1))[0] !== MARKER.raw);
    visitor.write('a part')
    expect(String(await read(6))).toBe('a part')
    visitor.resetAndDestroy()
    await expect(stream.read()).rejects.toMatchObject({ code: 'stream_reset' })
    carrier.socket.terminate()
  })

  test('a port closes when the lease is replaced at another machine, which has a port of its own', async () => {
    const account = newAccount()
    const old = await a.register('nomad', { account, tcp_enabled: true })
    expect(await isListening(portOf(old))).toBe(true)
    const lease = await c.register('nomad', { account, tcp_enabled: true })
    expect(lease.tcp_addr).toBe(`machine-2.relay.localhost:${portOf(lease)}`)
    await expect.poll(() => isListening(portOf(old))).toBe(false)
    expect(await isListening(portOf(lease))).toBe(true)
    await b.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    await expect.poll(() => isListening(portOf(lease))).toBe(false)
  })

  test('the address of a site behind a proxy is the same at all machines', async () => {
    const forwarded = { Forwarded: 'for=198.51.100.7' }
    const lease = await a.register('addressed')
    await b.call('POST', '/sdk/renew', { access_token: lease.access_token }, forwarded)
    for (const relay of cluster.relays)
      await expect
        .poll(async () => {
          const { data } = (await relay.call('GET', '/api/policy/state', undefined, ADMIN)).json
          const { leases } = data as unknown as { leases: { name: string; client_ip: string }[] }
          return leases.find(({ name }) => name === 'addressed')?.client_ip
        })
        .toBe('198.51.100.7')
  })

  wholeOnly(test, 'depth')(
    'Redis is told no token, key, secret, site or address and no byte of a visitor, and holds none',
    async () => {
      const monitor = await monitorRedis(cluster.redis)
      const account = newAccount()
      const [seen, reported] = ['203.0.113.77', '203.0.113.78']
      const forwarded = { Forwarded: `for=${seen}` }
      const lease = await a.register('secret', { account, tcp_enabled: true, reported_ip: reported })
      const renewed = await b.call('POST', '/sdk/renew', { access_token: lease.access_token }, forwarded)
      const again = renewed.json.data as unknown as RegisterResponse
      const site = await openSite(b, lease, 2)
      const body = randomBytes(3_000).toString('hex')
      expect((await askSite(c, site, '/', { method: 'POST' }, body)).text).toBe(`/ ${body}`)
      await site.close()
      const session = await nativeSession(c, lease.reverse_endpoint.capability, UPGRADE_HEADERS)
      const visitor = connect(portOf(lease), '127.0.0.1')
      await rawVisitor(session)
      visitor.write(body)
      expect(String(await session.read(body.length))).toBe(body)
      visitor.destroy()
      const ended = await c.call('POST', '/sdk/unregister', { access_token: again.access_token })
      expect(ended.status).toBe(200)
      const challenged = await c.call(
        'POST',
        '/sdk/register/challenge',
        { identity: lease.identity },
        forwarded,
      )
      expect(challenged.status).toBe(201)
      const hostname = cluster.keys.hostnameName('secret.relay.localhost')
      // The end of the lease: `isEnd`, `keptMs` and `identity` are before its hostname.
      await expect.poll(() => monitor.text).toMatch(new RegExp(`"1" "\\d+" "[^"]+" "${hostname}"`))
      await monitor.stop()
      const held = Object.entries(await contentOf(cluster.redis))
        .flat()
        .join('\n')
      const read = (name: string): Promise<string> => readFile(join(a.directory, name), 'utf8')
      const pemLine = (pem: string): string => pem.split('\n')[2]!
      const identity = JSON.parse(await read('identity.json'))
      const secrets = {
        'access token': lease.access_token,
        'its signature': lease.access_token.split('.')[2]!,
        capability: lease.reverse_endpoint.capability,
        'renewed token': again.access_token,
        'renewed capability': again.reverse_endpoint.capability,
        'the machines’ secret': cluster.secret,
        'the key of the CA': pemLine(await read('ca-key.pem')),
        'bytes of a visitor': body.slice(1_000, 1_040),
        'the admin token': ADMIN_TOKEN,
        'the identity of a site': account.address.toLowerCase(),
        'its hostname': 'secret.relay.localhost',
        'address of a client': seen,
        'network of a client': '203.0.113.',
        'address that it reports': reported,
        ...Object.fromEntries(
          Object.entries(identity).flatMap(([name, value]) =>
            /key|secret/i.test(name) && typeof value === 'string' ? [[`identity ${name}`, value]] : [],
          ),
        ),
      }
      for (const [name, secret] of Object.entries(secrets)) {
        expect(secret.length, name).toBeGreaterThanOrEqual(10)
        expect(monitor.text.includes(secret), name).toBe(false)
        expect(held.includes(secret), name).toBe(false)
      }
      expect(held).not.toContain('PRIVATE KEY')
      expect(Object.keys(secrets).filter((name) => name.startsWith('identity'))).not.toEqual([])
    },
  )
})
