// SVC_WORKERS=2 at the wire: what comes to either process is answered as one relay would, and what is issued in one is
// good in both. Which process gets a connection the kernel decides; so everything is tried so often that
// both have some: once in 32,000 runs one has none.

import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { MARKER, STREAM_ANSWER } from '@svc/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import { atDepth } from '../../../tools/test-depth.ts'
import { createLeaf } from '../../src/core/certificates/development-ca.ts'
import { WORKER_REPORT_MS } from '../../src/features/workers/primary-link.ts'
import { apiSocket, connectRequest, socketReader, UPGRADE_HEADERS } from '../support/api-socket.ts'
import { carrierOn, LINKS, openCarrier } from '../support/carrier.ts'
import { type Family, parseExposition } from '../support/exposition.ts'
import { ROOT_HOST, startTestRelay, type TestRelay } from '../support/relay.ts'
import { nativeSession, type TestSession } from '../support/session.ts'
import { activate, genuine, sign } from '../support/sign.ts'

const ADMIN = { Authorization: 'Bearer a-long-random-value' }
const TRIES = 16
/** Where a run in which one process has none proves less, and does not fail. */
const LOOKS: number = atDepth(TRIES, 8)
const PORTS = 4

let relay: TestRelay
let metrics: string
beforeAll(async () => {
  const first = await freeRange(PORTS + 1)
  metrics = `http://127.0.0.1:${first + PORTS}/metrics`
  relay = await startTestRelay({
    SVC_WORKERS: '2',
    ADMIN_TOKEN: 'a-long-random-value',
    METRICS_ADDR: `${first + PORTS}`,
    TRUSTED_PROXIES: '127.0.0.1',
    TCP_ENABLED: 'true',
    MIN_PORT: `${first}`,
    MAX_PORT: `${first + PORTS - 1}`,
  })
})
afterAll(() => relay.close())

function tries<T>(attempt: (index: number) => Promise<T>, count: number = TRIES): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => attempt(index)))
}

/** For sessions, of which a process keeps only this many ready. */
async function oneByOne<T>(attempt: (index: number) => Promise<T>): Promise<T[]> {
  const outcomes: T[] = []
  for (let index = 0; index < TRIES; index++) outcomes.push(await attempt(index))
  return outcomes
}

/** All that the relay says, each time on another connection. */
async function answersTo(request: string): Promise<Set<string>> {
  const answers = await tries(async () => {
    const socket = await apiSocket(relay)
    const ended = once(socket, 'end')
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.write(request)
    await ended
    socket.destroy()
    return Buffer.concat(chunks)
      .toString()
      .replace(/^(Date|X-Request-Id): .*\r\n/gim, '')
  }, LOOKS)
  return new Set(answers)
}

async function sample(name: string): Promise<number | undefined> {
  const families: Map<string, Family> = parseExposition(await (await fetch(metrics)).text())
  return families.get(`svc_relay_${name}`)?.samples.get(`svc_relay_${name}`)
}

describe('the API', () => {
  const ending = `Host: ${ROOT_HOST}\r\nConnection: close\r\n\r\n`

  test.each([
    ['health', `GET /api/healthz HTTP/1.1\r\n${ending}`, 200],
    ['a body that is not JSON', `POST /sdk/renew HTTP/1.1\r\nContent-Length: 3\r\n${ending}no!`, 400],
    ['no request', 'what is this?\r\n\r\n', 400],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
    ['a head that is too large', `GET / HTTP/1.1\r\nX: ${'x'.repeat(70_000)}\r\n${ending}`, 431],
    ['a path that only begins like a carrier', `GET /sdk/connected HTTP/1.1\r\n${ending}`, 404],
    ['a carrier without a capability', `GET /sdk/connect?a=b HTTP/1.1\r\n${ending}`, 403],
    [
      'a second request for a carrier',
      `GET /api/healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /sdk/connect HTTP/1.1\r\n${ending}`,
      403,
    ],
  ])('%s is answered alike by both', async (_what, request, status) => {
    const answers = await answersTo(request)
    expect([...answers].map((answer) => answer.match(/HTTP\/1.1 (\d+)/g)?.at(-1))).toEqual([
      `HTTP/1.1 ${status}`,
    ])
  })

  test('knows where a client comes from, at both', async () => {
    const leases = await tries(async (index) => {
      const { hostname, access_token } = await relay.register(`renewed${index}`)
      const headers = { Forwarded: `for=192.0.2.${index}` }
      const { status } = await relay.call('POST', '/sdk/renew', { access_token }, headers)
      expect(status).toBe(200)
      return hostname
    }, LOOKS)
    const { json } = await relay.call('GET', '/api/policy/state', undefined, ADMIN)
    const state = json.data as unknown as { leases: { name: string; hostname: string; client_ip: string }[] }
    for (let index = 0; index < LOOKS; index++)
      expect(state.leases.find(({ name }) => name === `renewed${index}`)?.client_ip).toBe(`192.0.2.${index}`)
    expect(new Set(leases).size).toBe(LOOKS)
    const banned = { ip: '198.51.100.9', is_banned: true }
    await relay.call('POST', '/api/policy/ips', banned, ADMIN)
    const { reverse_endpoint } = await relay.register('elsewhere')
    const forwarded = [...UPGRADE_HEADERS, 'Forwarded: for=198.51.100.9', 'Connection: close']
    const answers = await answersTo(connectRequest(reverse_endpoint.capability, forwarded))
    expect([...answers].map((answer) => answer.includes('ip_banned'))).toEqual([true])
  })
})

describe('a lease', () => {
  test('is known to both before its registration is answered; another one’s token is refused by both', async () => {
    const sessions = await tries(async (index) => {
      const { reverse_endpoint } = await relay.register(`new${index}`)
      return nativeSession(relay, reverse_endpoint.capability, UPGRADE_HEADERS)
    }, LOOKS)
    for (const session of sessions) session.abort()
    const [own, other] = [await relay.register('own'), await relay.register('other')]
    const outcomes = await tries(async () => {
      const carrier = await openCarrier(relay, own.reverse_endpoint.capability).catch(() => undefined)
      const stream = await carrier?.open(other.reverse_endpoint.capability)
      const answer = await stream?.read(1)
      carrier?.socket.close()
      return answer?.[0]
    })
    // Beyond the most that one process takes of a lease there is no carrier at all.
    expect(outcomes.filter((outcome) => outcome !== undefined && outcome !== STREAM_ANSWER.rejected)).toEqual(
      [],
    )
    expect(outcomes.filter((outcome) => outcome === STREAM_ANSWER.rejected).length).toBeGreaterThan(TRIES / 2)
  })

  test.each(LINKS)('that ends closes the carriers of %s in both, with the reason', async (kind, link) => {
    const lease = await relay.register(`ends-${kind.slice(-5)}`)
    const carriers = await Promise.all(
      Array.from({ length: 6 }, async () => carrierOn(await link(relay, lease.reverse_endpoint.capability))),
    )
    await expect.poll(() => sample('carriers')).toBe(6)
    await relay.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    expect(await Promise.all(carriers.map(({ closeCode }) => closeCode))).toEqual(Array(6).fill(4001))
    await expect.poll(() => sample('carriers')).toBe(0)
  })

  test('has its older WebSockets looked at in both when a new one comes', async () => {
    const lease = await relay.register('back')
    const { socket } = await openCarrier(relay, lease.reverse_endpoint.capability)
    let pings = 0
    // Type 2, flag SYN: a ping that wants its answer.
    socket.on('message', (frame: Buffer) => {
      if (frame[1] === 2 && frame[3] === 1) pings += 1
    })
    const others = []
    for (let index = 1; index <= 6; index++) {
      others.push(await openCarrier(relay, lease.reverse_endpoint.capability))
      await expect.poll(() => pings).toBe(index)
    }
    for (const one of [{ socket }, ...others]) one.socket.close()
  })

  test('gets one signature for each visitor, wherever that one came in and where the request does', async () => {
    const lease = await relay.register('signer')
    const other = await relay.register('not-the-signer')
    const pem = await relay.call('GET', '/sdk/certificate-chain')
    const chain = [new X509Certificate(pem.text).raw]
    const issuers = new Set<number | undefined>()
    for (let index = 0; index < TRIES; index++) {
      const carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
      const visit = await activate(relay, carrier, lease)
      issuers.add(visit.binding[0])
      const request = genuine(visit, chain)
      expect(await sign(relay, other.access_token, request)).toMatchObject({ status: 403 })
      const [first, second] = await Promise.all([1, 2].map(() => sign(relay, lease.access_token, request)))
      expect([first!.status, second!.status].sort()).toEqual([200, 403])
      carrier.socket.close()
    }
    expect([...issuers].sort()).toEqual([0, 1])
    await relay.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    await expect.poll(() => sample('visitor_connections')).toBe(0)
  })
})

describe('visitors of a dedicated port', () => {
  const size = 200_000
  const bulk = (index: number): Buffer => Buffer.alloc(size, `bulk of visitor ${index} `)
  const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

  test('who speak at once lose no byte on their way to the process that has a session', async () => {
    const { reverse_endpoint, tcp_addr } = await relay.register('port', { tcp_enabled: true })
    const visitors: Socket[] = []
    for (let index = 0; index < TRIES; index++) {
      const visitor = connect({
        host: '127.0.0.1',
        port: Number(tcp_addr?.split(':')[1]),
        allowHalfOpen: true,
      })
      visitor.write(bulk(index))
      visitors.push(visitor)
    }
    const sessions: TestSession[] = await oneByOne(() =>
      nativeSession(relay, reverse_endpoint.capability, UPGRADE_HEADERS),
    )
    for (const { closed } of sessions) closed.catch(() => {})
    const received = await Promise.all(sessions.map((session) => session.read(1 + size)))
    expect(received.map((bytes) => digest(bytes.subarray(1))).sort()).toEqual(
      visitors.map((_, index) => digest(bulk(index))).sort(),
    )
    await Promise.all(sessions.map((session) => session.write(Buffer.from('seen'))))
    const answers = await Promise.all(visitors.map((visitor) => socketReader(visitor)(4)))
    expect(answers.map(String)).toEqual(Array(TRIES).fill('seen'))
    await expect.poll(() => sample('visitor_connections')).toBe(TRIES)
    // Their port closes with the gate.
    const cut = visitors.map(
      (visitor) => new Promise((resolve) => visitor.on('error', resolve).on('end', resolve)),
    )
    const { json } = await relay.call('GET', '/api/policy', undefined, ADMIN)
    const policy = json.data as unknown as { approval_mode: string }
    await relay.call('POST', '/api/policy', { ...policy, approval_mode: 'manual' }, ADMIN)
    await Promise.all(cut)
    for (const visitor of visitors) visitor.destroy()
    await relay.call('POST', '/api/policy', policy, ADMIN)
    await expect.poll(() => sample('visitor_connections')).toBe(0)
  })
})

test('visitors who leave while they wait are forgotten, wherever they came, and the next is served', async () => {
  const { reverse_endpoint, hostname } = await relay.register('awaited')
  const visitors = Array.from({ length: 100 }, () => relay.tls(hostname))
  await expect.poll(() => sample('visitor_connections')).toBe(100)
  for (const visitor of visitors) visitor.destroy()
  await expect.poll(() => sample('visitor_connections')).toBe(0)
  const session = await nativeSession(relay, reverse_endpoint.capability, UPGRADE_HEADERS)
  const visitor = relay.tls(hostname)
  expect((await session.read(1 + 16))[0]).toBe(MARKER.tls)
  session.abort()
  visitor.destroy()
})

test('what is counted is the sum', async () => {
  // What was done before has been told by then.
  await setTimeout(2 * WORKER_REPORT_MS)
  const before = await sample('activations_total')
  const { reverse_endpoint, hostname } = await relay.register('counted')
  const sessions = await oneByOne(async () => {
    const visitor = relay.tls(hostname)
    const session = await nativeSession(relay, reverse_endpoint.capability, UPGRADE_HEADERS)
    await session.read(1 + 16 + 5)
    return { session, visitor }
  })
  await expect.poll(() => sample('activations_total')).toBe(before! + TRIES)
  await expect.poll(() => sample('carriers')).toBe(TRIES)
  for (const { session, visitor } of sessions) {
    session.abort()
    visitor.destroy()
  }
  await expect.poll(() => sample('carriers')).toBe(0)
})

test('another relay does not get in at the same port', async () => {
  const second = startTestRelay({ SVC_WORKERS: '2', SNI_PORT: `${relay.port}` })
  await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE', port: relay.port })
})

test('a new certificate is shown by both', async () => {
  const read = (name: string): Promise<string> => readFile(join(relay.directory, name), 'utf8')
  const authority = { certificate: await read('ca.pem'), key: await read('ca-key.pem') }
  const leaf = createLeaf(authority, ROOT_HOST)
  await writeFile(join(relay.directory, 'fullchain.pem'), leaf.chain)
  await writeFile(join(relay.directory, 'privatekey.pem'), leaf.key)
  const shown = async (): Promise<Set<string | undefined>> =>
    new Set(
      await tries(async () => {
        const socket = await apiSocket(relay)
        const { fingerprint256 } = socket.getPeerX509Certificate()!
        socket.destroy()
        return fingerprint256
      }),
    )
  const { fingerprint256 } = new X509Certificate(leaf.chain)
  await expect.poll(shown).toEqual(new Set([fingerprint256]))
})
