// The port for other machines: who is let in, what is done with what does not fit, and where visitors go when a machine fails.

import { once } from 'node:events'
import { connect as connectTcp, createServer, type Server, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ConnectionOptions,
  connect as connectTls,
  createServer as createTlsServer,
  type TLSSocket,
} from 'node:tls'
import { Session, type Stream } from '@svc/yamux'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { createPipe } from '../../src/core/bridge/pipe.ts'
import { createLog } from '../../src/core/log/log.ts'
import type { PendingVisitor } from '../../src/core/reverse/pending-visitor.ts'
import { readyQueueOf } from '../../src/core/reverse/ready-queues.ts'
import {
  LINK_CONNECTIONS_MAX,
  LINK_HANDSHAKES_MAX,
  LINK_MESSAGE_MAX_BYTES,
} from '../../src/features/cluster/limits.ts'
import { createLinkCertificate } from '../../src/features/cluster/links/link-certificate.ts'
import { LinkClient } from '../../src/features/cluster/links/link-client.ts'
import { frame, frameJson, type LinkMessage } from '../../src/features/cluster/links/link-messages.ts'
import { LinkServer } from '../../src/features/cluster/links/link-server.ts'
import { LinkedVisitor } from '../../src/features/cluster/links/linked-visitor.ts'
import { PeerMachine } from '../../src/features/cluster/links/peer-machine.ts'
import { SessionCounts } from '../../src/features/cluster/links/session-counts.ts'
import { NOT_TAKEN, TAKEN, type VisitorHead } from '../../src/features/cluster/links/visitor-head.ts'
import { deriveClusterKey } from '../../src/features/cluster/shared/cluster-key.ts'
import { newLease } from '../support/lease.ts'

const HOST = 'relay.example'
const KEY = deriveClusterKey('a-secret-of-32-characters-or-more', HOST)
const NAME = 'machine-b:7443'
const ALPN = 'svc-cluster'

let server: LinkServer
let port: number
let visitors: { head: VisitorHead; stream: Stream; machine: string }[]
let messages: LinkMessage[]
let links: string[]
/** What the server does with a visitor. */
let takes: number | undefined
const sockets = new Set<Socket>()
const clients = new Set<LinkClient>()

beforeEach(async () => {
  ;[visitors, messages, takes] = [[], [], TAKEN]
  // The links of the test before may end later.
  const seen: string[] = []
  links = seen
  server = new LinkServer({
    certificate: createLinkCertificate(KEY, NAME),
    readBuffer: undefined,
    onLink: ({ machine, run }) => void seen.push(`+${machine} ${run}`),
    onMessage: (message) => void messages.push(message),
    onLinkClose: ({ machine, run }) => void seen.push(`-${machine} ${run}`),
    onVisitor: async (head, stream, machine) => {
      visitors.push({ head, stream, machine })
      if (takes !== undefined) await stream.write(Uint8Array.of(takes))
      if (takes === NOT_TAKEN) await stream.end()
    },
    onFeatureVisitor: async () => {},
    log: createLog('silent'),
  })
  port = await freePort()
  await server.listen(port)
})

afterEach(async () => {
  for (const client of clients) client.close()
  for (const socket of sockets) socket.destroy()
  clients.clear()
  sockets.clear()
  await server.close()
})

/** A connection to the port for machines. */
function dial(options: ConnectionOptions = {}): TLSSocket {
  const { ca, cert, key } = createLinkCertificate(KEY, 'machine-a:7443')
  const socket = connectTls({
    host: '127.0.0.1',
    port,
    ca,
    cert,
    key,
    ALPNProtocols: [ALPN],
    checkServerIdentity: () => undefined,
    ...options,
  })
  socket.on('error', () => {})
  sockets.add(socket)
  return socket
}

/** @returns whether the server keeps the connection, and answers a ping of yamux on it */
async function isLetIn(socket: TLSSocket): Promise<boolean> {
  // Unlike `once`, it does not mind an error before.
  const happens = (event: string) => new Promise((resolve) => void socket.once(event, resolve))
  const closed = happens('close').then(() => false)
  if (!(await Promise.race([closed, happens('secureConnect').then(() => true)]))) return false
  // A yamux ping: version, type 2, flag SYN, stream 0, value 7.
  socket.write(Buffer.from('000200010000000000000007', 'hex'))
  return await Promise.race([closed, happens('data').then(() => true)])
}

/** @returns the text that comes next; undefined at the end */
async function textOf(stream: Stream): Promise<string | undefined> {
  const bytes = await stream.read()
  return bytes && Buffer.from(bytes).toString()
}

/** Opens streams by hand. */
async function openSession(socket: TLSSocket = dial()): Promise<Session> {
  await once(socket, 'secureConnect')
  const transport = { send: (bytes: Uint8Array) => void socket.write(bytes), close: () => socket.destroy() }
  const session = new Session(transport, { role: 'client' })
  socket.on('data', (bytes: Buffer) => session.receive(bytes))
  socket.on('close', () => session.transportClosed())
  return session
}

function linkTo(machine = NAME, at = port) {
  const [onUp, onDown] = [vi.fn(), vi.fn()]
  const client = new LinkClient({
    machine,
    address: { host: '127.0.0.1', port: at },
    run: 'run-1',
    certificate: createLinkCertificate(KEY, 'machine-a:7443'),
    readBuffer: undefined,
    onUp,
    onDown,
  })
  clients.add(client)
  return { client, onUp, onDown }
}

describe('the port for machines', () => {
  test('lets in who has a certificate from the secret', async () => {
    expect(await isLetIn(dial())).toBe(true)
  })

  const other = createLinkCertificate(
    deriveClusterKey('another-secret-of-32-characters-or', HOST),
    'machine-a:7443',
  )
  test.each<[string, ConnectionOptions]>([
    ['without a certificate', { cert: undefined, key: undefined }],
    ['with a certificate from another secret', { cert: other.cert, key: other.key }],
    [
      'with a certificate of its own from the right authority’s name',
      { cert: other.cert + createLinkCertificate(KEY, 'x').ca, key: other.key },
    ],
    ['that speaks TLS 1.2', { maxVersion: 'TLSv1.2' }],
    ['that speaks another protocol', { ALPNProtocols: ['h2'] }],
    ['that names no protocol', { ALPNProtocols: [] }],
  ])('lets nobody in %s', async (_, options) => {
    expect(await isLetIn(dial(options))).toBe(false)
  })

  test('closes a connection without TLS at its first bytes', async () => {
    const socket = connectTcp(port, '127.0.0.1')
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: machine\r\n\r\n')
    socket.resume()
    await once(socket, 'close')
  })

  wholeOnly(test, 'clock')('gives a stranger who says nothing 3 s', async () => {
    const from = performance.now()
    const socket = connectTcp(port, '127.0.0.1').resume()
    sockets.add(socket)
    socket.on('error', () => {})
    await once(socket, 'close')
    expect(performance.now() - from).toBeGreaterThan(2_900)
  })

  test('has room for 64 strangers: one more takes the place of the first, and a machine gets in', async () => {
    const strangers: Socket[] = []
    for (let i = 0; i < LINK_HANDSHAKES_MAX; i++) {
      const socket = connectTcp(port, '127.0.0.1').resume()
      sockets.add(socket)
      socket.on('error', () => {})
      await once(socket, 'connect')
      strangers.push(socket)
    }
    const first = once(strangers[0]!, 'close')
    expect(await isLetIn(dial())).toBe(true)
    await first
    expect(strangers[2]!.closed).toBe(false)
  })

  wholeOnly(test, 'depth')('takes 512 connections in all', async () => {
    const machines: TLSSocket[] = []
    for (let i = 0; i < LINK_CONNECTIONS_MAX; i += 32) {
      const more = Array.from({ length: 32 }, () => dial())
      // They answer pings, without which they would be given up.
      await Promise.all(more.map((socket) => openSession(socket)))
      machines.push(...more)
    }
    expect(machines).toHaveLength(LINK_CONNECTIONS_MAX)
    expect(await isLetIn(dial())).toBe(false)
    machines[0]!.destroy()
    await expect.poll(() => isLetIn(dial())).toBe(true)
  })
})

describe('a stream of a link', () => {
  const reset = async (stream: Stream): Promise<unknown> =>
    stream.read().then(
      (bytes) => bytes,
      ({ code }) => code,
    )

  test.each<[string, Uint8Array]>([
    ['that is no JSON', frame(Buffer.from('{"kind":'))],
    ['of an unknown kind', frameJson({ kind: 'gossip' })],
    ['that is null', frameJson(null)],
    ['of a control stream without a run', frameJson({ kind: 'control', version: 1 })],
    ['of a version before the first', frameJson({ kind: 'control', version: 0, run: 'run' })],
    ['of a visitor without a lease', frameJson({ kind: 'visitor', hasHello: false })],
    [
      'that is longer than 4 MiB',
      Buffer.from((LINK_MESSAGE_MAX_BYTES + 1).toString(16).padStart(8, '0'), 'hex'),
    ],
  ])('with a head %s is reset, and the link stays', async (_, head) => {
    const session = await openSession()
    const stream = await session.open()
    await stream.write(head)
    expect(await reset(stream)).toBe('stream_reset')
    const control = await session.open()
    await control.write(frameJson({ kind: 'control', version: 1, run: 'run' }))
    await expect.poll(() => links).toEqual(['+machine-a:7443 run'])
  })

  wholeOnly(test, 'clock')('without a whole head is reset after 5 s', async () => {
    const session = await openSession()
    const stream = await session.open()
    const from = performance.now()
    await stream.write(Buffer.from('00000010', 'hex'))
    expect(await reset(stream)).toBe('stream_reset')
    expect(performance.now() - from).toBeGreaterThan(4_900)
  })

  test('brings messages; those of a newer version are left out, and one that is no JSON ends the stream', async () => {
    const session = await openSession()
    const control = await session.open()
    await control.write(frameJson({ kind: 'control', version: 7, run: 'run', more: true }))
    await control.write(frameJson({ kind: 'sessions', counts: [['one:0x1', 'lease_1', 2]], later: 1 }))
    await control.write(frameJson({ kind: 'weather', text: 'fine' }))
    await control.write(frameJson({ kind: 'sessions', counts: [['one:0x1', 'lease_1', 'many']] }))
    await control.write(frameJson({ kind: 'tell', topic: 'dns', text: '{}' }))
    await expect.poll(() => messages).toHaveLength(2)
    expect(messages).toEqual([
      { kind: 'sessions', counts: [['one:0x1', 'lease_1', 2]] },
      { kind: 'tell', topic: 'dns', text: '{}' },
    ])
    await control.write(frame(Buffer.from('no JSON')))
    expect(await reset(control)).toBe('stream_reset')
    expect(links).toEqual(['+machine-a:7443 run', '-machine-a:7443 run'])
  })

  test('brings a visitor with the ClientHello, byte for byte, however it is cut', async () => {
    const session = await openSession()
    const stream = await session.open()
    const [received, message] = [Buffer.from('the records'), Buffer.from('the message')]
    const head = {
      kind: 'visitor',
      key: 'one:0x1',
      id: 'lease_1',
      clientIp: '198.51.100.1',
      isLowPriority: false,
      ageMs: 5,
      sessionsLost: 1,
      machinesPassed: 1,
      hasHello: true,
      serverName: 'one.relay.example',
    }
    for (const byte of Buffer.concat([
      frameJson(head),
      frame(received),
      frame(message),
      Buffer.from('and more'),
    ]))
      await stream.write(Uint8Array.of(byte))
    await expect.poll(() => visitors).toHaveLength(1)
    expect(visitors[0]).toMatchObject({
      machine: 'machine-a:7443',
      head: { ...head, hello: { received, message, serverName: 'one.relay.example' } },
    })
  })
})

describe('a link', () => {
  test('leads to the machine that is meant, and to no other one with the secret', async () => {
    const right = linkTo()
    const wrong = linkTo('machine-c:7443')
    await expect.poll(() => right.client.isUp).toBe(true)
    await expect.poll(() => links).toEqual(['+machine-a:7443 run-1'])
    expect([wrong.client.isUp, wrong.onUp.mock.calls]).toEqual([false, []])
    expect(await wrong.client.ask({ kind: 'settle', change: '1-0' })).toBeUndefined()
    expect(await wrong.client.openStream()).toBeUndefined()
  })

  test('comes back when it broke; who asked meanwhile hears no', async () => {
    const { client, onUp, onDown } = linkTo()
    await expect.poll(() => client.isUp).toBe(true)
    const asked = client.ask({ kind: 'settle', change: '1-0' })
    await expect.poll(() => messages).toHaveLength(1)
    await server.close()
    expect(await asked).toBe(false)
    expect(onDown).toHaveBeenCalledOnce()
    expect(client.isUp).toBe(false)
    await server.listen(port)
    await expect.poll(() => onUp.mock.calls.length).toBe(2)
  })

  test('waits 2 s for an answer, or as long as it is told', async () => {
    const { client } = linkTo()
    await expect.poll(() => client.isUp).toBe(true)
    const from = performance.now()
    expect(await client.ask({ kind: 'settle', change: '1-0' }, 200)).toBeUndefined()
    expect(performance.now() - from).toBeGreaterThan(190)
    expect(performance.now() - from).toBeLessThan(1_900)
  })

  wholeOnly(test, 'depth')(
    'to a machine that reads no messages is given up once 64 MiB of them wait',
    async () => {
      const { ca, cert, key } = createLinkCertificate(KEY, NAME)
      const silent = createTlsServer(
        { ca, cert, key, requestCert: true, ALPNProtocols: [ALPN] },
        (socket) => {
          sockets.add(socket)
          socket.on('error', () => {})
          const transport = {
            send: (bytes: Uint8Array) => void socket.write(bytes),
            close: () => socket.destroy(),
          }
          const session = new Session(transport, { role: 'server', onStream: () => {} })
          socket.on('data', (bytes: Buffer) => session.receive(bytes))
        },
      )
      silent.listen(0)
      await once(silent, 'listening')
      const { client, onDown } = linkTo(NAME, (silent.address() as { port: number }).port)
      await expect.poll(() => client.isUp).toBe(true)
      const text = 'x'.repeat(1024 * 1024)
      for (let i = 0; i < 63; i++) client.send({ kind: 'tell', topic: 'dns', text })
      await sleep(100)
      expect([client.isUp, onDown.mock.calls]).toEqual([true, []])
      client.send({ kind: 'tell', topic: 'dns', text })
      client.send({ kind: 'tell', topic: 'dns', text })
      await expect.poll(() => onDown.mock.calls.length).toBe(1)
      silent.close()
    },
  )

  wholeOnly(test, 'clock')('to a port that is silent is given up after 3 s', async () => {
    const silent: Server = createServer((socket) => void sockets.add(socket))
    silent.listen(0)
    await once(silent, 'listening')
    const accepted = vi.fn()
    silent.on('connection', accepted)
    linkTo(NAME, (silent.address() as { port: number }).port)
    await expect.poll(() => accepted.mock.calls.length).toBe(2)
    const from = performance.now()
    await expect.poll(() => accepted.mock.calls.length).toBeGreaterThan(2)
    expect(performance.now() - from).toBeGreaterThan(2_500)
    silent.close()
  })
})

class FakeVisitor extends Duplex {
  readonly bytesRead = 0
  readonly bytesWritten = 0
  readonly written: Buffer[] = []
  readonly resetAndDestroy = vi.fn(() => this.destroy())
  readonly destroySoon = vi.fn()
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: unknown, done: () => void): void {
    this.written.push(chunk)
    done()
  }
}

const pendingOf = (
  lease: PendingVisitor['lease'],
  fields: Partial<PendingVisitor> = {},
): PendingVisitor & { visitor: FakeVisitor } =>
  ({
    visitor: new FakeVisitor(),
    lease,
    hello: undefined,
    arrivedAt: performance.now(),
    sessionsLost: 0,
    network: '198.51.100.1',
    isLowPriority: false,
    handedOverBy: undefined,
    ...fields,
  }) as PendingVisitor & { visitor: FakeVisitor }

describe('another machine', () => {
  const lease = newLease()
  const counts = () => ({ handedOut: 0, handedIn: 0, handOversFailed: 0 })

  async function peerTo(link: LinkClient): Promise<PeerMachine> {
    const peer = new PeerMachine({
      name: NAME,
      pipe: createPipe(undefined),
      leaseOf: (key) => (key === lease.identityKey ? lease : undefined),
      clientIpOf: () => '198.51.100.1',
      counts: counts(),
    })
    peer.link = link
    return peer
  }

  const ready = (peer: PeerMachine, count: number, id = lease.id): void =>
    peer.report([[lease.identityKey, id, count]])

  test('has the sessions that it says, as long as it can be reached, and none of a lease that was replaced', async () => {
    const { client } = linkTo()
    const peer = await peerTo(client)
    const queue = readyQueueOf(lease)
    ready(peer, 3)
    expect(queue.size).toBe(0)
    await expect.poll(() => client.isUp).toBe(true)
    peer.changed()
    expect([queue.size, queue.sizeHere]).toEqual([3, 0])
    ready(peer, 5, 'lease_of_before')
    expect(queue.size).toBe(3)
    ready(peer, 0)
    expect(queue.size).toBe(0)
    ready(peer, 1)
    peer.lost()
    expect(queue.size).toBe(0)
  })

  test('that takes a visitor gets what is known of him, and his bytes from then on', async () => {
    const { client } = linkTo()
    await expect.poll(() => client.isUp).toBe(true)
    const peer = await peerTo(client)
    const pending = pendingOf(lease, { machinesPassed: 1, sessionsLost: 2, isLowPriority: true })
    const over = peer.handOver(pending)
    await expect.poll(() => visitors).toHaveLength(1)
    const { head, stream } = visitors[0]!
    expect(head).toMatchObject({
      key: lease.identityKey,
      id: lease.id,
      clientIp: '198.51.100.1',
      network: '198.51.100.1',
      machinesPassed: 2,
      sessionsLost: 2,
      isLowPriority: true,
      hello: undefined,
    })
    pending.visitor.push('question')
    expect(await textOf(stream)).toBe('question')
    await stream.write(Buffer.from('answer'))
    await expect.poll(() => Buffer.concat(pending.visitor.written).toString()).toBe('answer')
    stream.abort()
    expect(await over).toBe('gone')
    expect(pending.visitor.resetAndDestroy).toHaveBeenCalled()
  })

  test.each([
    ['refuses a visitor', NOT_TAKEN],
    ['does not answer within 1 s', undefined],
  ])('that %s gives him back, and gets no more for this lease for a moment', async (_, answer) => {
    takes = answer
    const { client } = linkTo()
    await expect.poll(() => client.isUp).toBe(true)
    const peer = await peerTo(client)
    ready(peer, 2)
    const pending = pendingOf(lease)
    expect(await peer.handOver(pending)).toBe('returned')
    expect(pending.visitor.destroyed).toBe(false)
    expect(readyQueueOf(lease).size).toBe(0)
    await expect.poll(() => readyQueueOf(lease).size).toBe(2)
    peer.lost()
  })

  test('that cannot be reached gives a visitor back at once', async () => {
    const { client } = linkTo('machine-c:7443')
    const peer = await peerTo(client)
    expect(await peer.handOver(pendingOf(lease))).toBe('returned')
  })

  test('gets no visitor who has left', async () => {
    const { client } = linkTo()
    await expect.poll(() => client.isUp).toBe(true)
    const peer = await peerTo(client)
    const pending = pendingOf(lease)
    pending.visitor.destroy()
    expect(await peer.handOver(pending)).toBe('gone')
    expect(visitors).toEqual([])
  })

  test('gets visitors that two machines have passed on from none: they wait where they are', async () => {
    const { client } = linkTo()
    await expect.poll(() => client.isUp).toBe(true)
    const peer = await peerTo(client)
    ready(peer, 2)
    const queue = readyQueueOf(lease)
    const claim = (machinesPassed: number) =>
      queue.claim(new AbortController().signal, 50, {
        network: undefined,
        isLowPriority: false,
        machinesPassed,
      })
    expect(await claim(0)).toBe(peer)
    expect(await claim(1)).toBe(peer)
    expect(await claim(2)).toBeUndefined()
    const waiting = queue.claim(new AbortController().signal, 200, {
      network: undefined,
      isLowPriority: false,
      machinesPassed: 2,
    })
    ready(peer, 3)
    expect(await waiting).toBeUndefined()
    peer.lost()
  })

  test('gets no visitor back that it passed on itself', async () => {
    const { client } = linkTo()
    await expect.poll(() => client.isUp).toBe(true)
    const peer = await peerTo(client)
    ready(peer, 2)
    expect(readyQueueOf(lease).isEmptyFor({ machinesPassed: 1, handedOverBy: peer })).toBe(true)
    expect(readyQueueOf(lease).isEmptyFor({ machinesPassed: 1 })).toBe(false)
    peer.lost()
  })
})

describe('the numbers of sessions', () => {
  const session = (): Duplex => new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })

  test('are told at once when they rise from none or fall to none, and others 250 ms later', async () => {
    const told: unknown[][] = []
    const counts = new SessionCounts((some) => told.push(...some.map(([key, id, ready]) => [key, id, ready])))
    const lease = newLease()
    const queue = readyQueueOf(lease)
    counts.watch(lease)
    const one = [lease.identityKey, lease.id, 1]
    queue.offer(session())
    await expect.poll(() => told).toEqual([one])
    const from = performance.now()
    queue.offer(session())
    queue.offer(session())
    await expect.poll(() => told).toEqual([one, [lease.identityKey, lease.id, 3]])
    expect(performance.now() - from).toBeGreaterThan(200)
    expect([...counts.all()]).toEqual([[[lease.identityKey, lease.id, 3]]])
    queue.clear()
    await expect.poll(() => told.at(-1)).toEqual([lease.identityKey, lease.id, 0])
    expect([...counts.all()]).toEqual([])
    counts.close()
  })

  test('of 1,001 leases are two messages', async () => {
    const messages: number[] = []
    const counts = new SessionCounts((some) => messages.push(some.length))
    const leases = Array.from({ length: 1_001 }, newLease)
    for (const lease of leases) {
      counts.watch(lease)
      readyQueueOf(lease).offer(session())
    }
    await expect.poll(() => messages).toEqual([1_000, 1])
    expect([...counts.all()].map(({ length }) => length)).toEqual([1_000, 1])
    for (const lease of leases) lease.end('unregistered')
    counts.close()
  })
})

describe('a visitor whose socket another machine has', () => {
  async function linked(): Promise<{ visitor: LinkedVisitor; stream: Stream }> {
    const session = await openSession()
    const stream = await session.open()
    await stream.write(
      frameJson({
        kind: 'visitor',
        key: 'one:0x1',
        id: 'lease_1',
        clientIp: '2001:db8::1',
        isLowPriority: false,
        ageMs: 0,
        sessionsLost: 0,
        machinesPassed: 1,
        hasHello: false,
      }),
    )
    await expect.poll(() => visitors).toHaveLength(1)
    expect(await stream.read({ maxBytes: 1 })).toEqual(new Uint8Array([TAKEN]))
    const { head, stream: theirs } = visitors[0]!
    return { visitor: new LinkedVisitor(theirs, head.clientIp), stream }
  }

  test('has the address of his socket, and counts his bytes', async () => {
    const { visitor, stream } = await linked()
    expect([visitor.remoteAddress, visitor.isLinked]).toEqual(['2001:db8::1', true])
    await stream.write(Buffer.from('question'))
    visitor.write('answer')
    expect(String((await once(visitor, 'data'))[0])).toBe('question')
    expect(await textOf(stream)).toBe('answer')
    expect(visitor.bytesWritten).toBe(6)
  })

  test('may end his half, and still get an answer', async () => {
    const { visitor, stream } = await linked()
    await stream.end()
    visitor.resume()
    await once(visitor, 'end')
    visitor.end('the answer')
    expect(await textOf(stream)).toBe('the answer')
    expect(await stream.read()).toBeUndefined()
  })

  test.each([
    ['is reset', (visitor: LinkedVisitor) => visitor.resetAndDestroy(), 'stream_reset'],
    ['is sent the rest and closed', (visitor: LinkedVisitor) => visitor.destroySoon(), undefined],
  ])('%s at the machine that has the socket', async (_, leave, code) => {
    const { visitor, stream } = await linked()
    visitor.write('the rest')
    expect(await textOf(stream)).toBe('the rest')
    leave(visitor)
    const end = await stream.read().then(
      (bytes) => bytes,
      (error) => error.code,
    )
    expect(end).toBe(code)
  })
})
