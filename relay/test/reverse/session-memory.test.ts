// Tests that carriers whose bytes no side reads take bounded memory, and that visitors of other sites notice nothing.

import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import {
  encodeCapability,
  MARKER,
  PATH,
  type RegisterResponse,
  STREAM_ANSWER,
  SUBPROTOCOL,
} from '@svc/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, test as every, expect } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { apiSocket, readHead, socketReader } from '../support/api-socket.ts'
import { carrierOn, LINKS, type Link, openCarrier, type TestCarrier } from '../support/carrier.ts'
import { ROOT_HOST } from '../support/relay.ts'
import { type RelayProcess, startRelayProcess } from '../support/relay-process.ts'

const test = wholeOnly(every, 'depth')

const MB = 1_000_000
/** Of the relay's heap, in MB: a quarter of what V8 makes of it, some 60 MB, is what all WebSockets may hold. */
const HEAP_MB = 128
/** What an attack may add to the resident memory: those 60 MB, as much again for buffers outside of the heap, and some air. */
const GROWTH_MAX_BYTES: number = 130 * MB
/** The slowest visitor of the bystander, on a machine that also runs the attack and may be slow itself. */
const VISIT_MAX_MS = 60_000
/** Each sends or is sent a mebibyte, all together more than the bound on the growth. */
const VISITORS: number = atDepth(300, 150)
/** Each is sent 256 KiB, all together more than the bound on the growth. */
const REJECTED_STREAMS: number = atDepth(700, 560)
/** Each holds 8 KiB in each of a thousand streams, all together about the bound on the growth. */
const HALF_OPEN_SOCKETS = 16
/** The pause of the bystander between two visitors. */
const BETWEEN_VISITS_MS = 200
const TIMEOUT = { timeout: 180_000 }
const WINDOW_BYTES: number = 256 * 1024
const ADMIN_TOKEN = 'a-long-random-value'
const COLLECTION_SIGNAL = 'SIGUSR2'
/** Makes the relay collect its whole heap on that signal. */
const COLLECT: string[] = [
  '--import',
  `data:text/javascript,process.on('${COLLECTION_SIGNAL}', () => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }))`,
]
/** What the attack sent arrives, and a collection ends, within this time. */
const SETTLE_MS = 300
/** Of pino. */
const INFO = 30

let relay: RelayProcess
let site: { lease: RegisterResponse; carrier: TestCarrier; hello: Buffer }
let before: number
let visits: AbortController
let visited: Promise<void>

beforeAll(async () => {
  const execArgv = ['--initial-heap-size=32', `--max-old-space-size=${HEAP_MB}`, '--expose-gc', ...COLLECT]
  relay = await startRelayProcess({ ADMIN_TOKEN }, { execArgv })
  const lease = await relay.register('bystander')
  const carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
  site = { lease, carrier, hello: await captureHello(lease.hostname) }
  for (let i = 0; i < 20; i++) await visit()
  before = await held()
}, TIMEOUT.timeout)
afterAll(() => relay.close(), TIMEOUT.timeout)

beforeEach(() => {
  visits = new AbortController()
  visited = keepVisiting(visits.signal)
})
afterEach(async () => {
  visits.abort()
  await visited
  expect(relay.log.filter(({ level }) => Number(level) > INFO)).toEqual([])
  expect(relay.complaints).toBe('')
})

/** A visitor of the bystander, with a question and an answer. */
async function visit(): Promise<void> {
  const { stream, read } = await site.carrier.open(site.lease.reverse_endpoint.capability)
  expect([...(await read(1))]).toEqual([STREAM_ANSWER.accepted])
  const visitor = await relay.tcp()
  visitor.write(site.hello)
  const readAnswer = socketReader(visitor)
  expect([...(await read(1))]).toEqual([MARKER.tls])
  await read(16 + site.hello.length)
  await stream.write(Buffer.from('answer'))
  expect(String(await readAnswer(6))).toBe('answer')
  visitor.destroy()
  stream.abort()
}

async function keepVisiting(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const from = performance.now()
    await visit()
    expect(performance.now() - from).toBeLessThan(VISIT_MAX_MS)
    await sleep(BETWEEN_VISITS_MS, undefined, { signal }).catch(() => {})
  }
}

const frame = (type: number, flags: number, stream: number, length: number): Buffer => {
  const header = Buffer.alloc(12)
  header[1] = type
  header[3] = flags
  header.writeUInt32BE(stream, 4)
  header.writeUInt32BE(length, 8)
  return header
}
const open = (stream: number): Buffer => frame(1, 1, stream, 0)
const data = (stream: number, bytes: Buffer): Buffer =>
  Buffer.concat([frame(0, 0, stream, bytes.length), bytes])
const streamId = (index: number): number => 2 * index + 1

/** The link by carrier, with the letter that names of its leases begin with. */
const KINDS = LINKS.map(([kind, connect]) => ({ kind, letter: kind.slice(2, 3), connect }))

async function hostileLink({ letter, connect }: (typeof KINDS)[number], name: string): Promise<Link> {
  const lease = await relay.register(`${letter}-${name}`)
  const link = await connect(relay, lease.reverse_endpoint.capability)
  link.receive(() => {})
  return link
}

/** A WebSocket on which frames are written by hand. */
async function webSocketByHand(capability: string): Promise<TLSSocket> {
  const socket = await apiSocket(relay)
  const lines = [
    `GET ${PATH.connect} HTTP/1.1`,
    `Host: ${ROOT_HOST}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Sec-WebSocket-Protocol: ${SUBPROTOCOL}, ${capability}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  expect(await readHead(socketReader(socket))).toMatch(/^HTTP\/1\.1 101 /)
  return socket
}

/** @returns the resident memory without garbage: how much of that a process keeps depends on how fast its machine is */
async function held(): Promise<number> {
  await sleep(SETTLE_MS)
  relay.kill(COLLECTION_SIGNAL)
  await sleep(SETTLE_MS)
  return await relay.memory()
}

const growth = async (): Promise<number> => (await held()) - before

test.each(KINDS)('streams of $kind that are rejected and go on sending', TIMEOUT, async (kind) => {
  const link = await hostileLink(kind, 'rejected')
  const rest = Buffer.alloc(WINDOW_BYTES - 2)
  for (let i = 0; i < REJECTED_STREAMS; i++) {
    // No capability is empty.
    await link.send(Buffer.concat([open(streamId(i)), data(streamId(i), Buffer.alloc(2))]))
    await link.send(data(streamId(i), rest))
  }
  expect(await growth()).toBeLessThan(GROWTH_MAX_BYTES)
  link.terminate()
})

test.each(KINDS)('streams of $kind whose capability never ends', TIMEOUT, async (kind) => {
  const links: Link[] = []
  const unfinished = Buffer.from(encodeCapability('x'.repeat(8192)).subarray(0, -1))
  const streams = Array.from({ length: 1000 }, (_, i) =>
    Buffer.concat([open(streamId(i)), data(streamId(i), unfinished)]),
  )
  for (let k = 0; k < HALF_OPEN_SOCKETS; k++) {
    const link = await hostileLink(kind, `half-open-${k}`)
    links.push(link)
    for (let at = 0; at < streams.length; at += 100)
      await link.send(Buffer.concat(streams.slice(at, at + 100)))
  }
  expect(await growth()).toBeLessThan(GROWTH_MAX_BYTES)
  for (const link of links) link.terminate()
})

test('messages that never end', TIMEOUT, async () => {
  const sockets = []
  const piece = Buffer.alloc(1024 * 1024 - 1024)
  // A binary message of 1 MiB: final fragment, a mask, 64 bits of length (RFC 6455 §5.2).
  const header = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 0, 1, 2, 3, 4])
  for (let k = 0; k < 17; k++) {
    const { reverse_endpoint } = await relay.register(`message-${k}`)
    for (let i = 0; i < 8; i++) {
      const socket = await webSocketByHand(reverse_endpoint.capability)
      sockets.push(socket)
      socket.write(Buffer.concat([header, piece]))
    }
  }
  expect(await growth()).toBeLessThan(GROWTH_MAX_BYTES)
  for (const socket of sockets) socket.destroy()
})

test.each<[string, Buffer[]]>([
  // Fragments of one byte (RFC 6455 §5.4): the first is binary, none is final.
  ['fragments', [Buffer.from([0x02, 0x81, 1, 2, 3, 4, 0]), Buffer.from([0x00, 0x81, 1, 2, 3, 4, 0])]],
  ['pieces', [Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 0, 1, 2, 3, 4]), Buffer.of(0)]],
])('a message in 5,000 %s ends its WebSocket', TIMEOUT, async (what, [first, next]) => {
  const { reverse_endpoint } = await relay.register(`many-${what}`)
  const socket = await webSocketByHand(reverse_endpoint.capability)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(first!)
  // One by one, so that each is a TLS record.
  for (let i = 1; i < 5_000 && !socket.destroyed; i++)
    await Promise.race([new Promise((resolve) => socket.write(next!, resolve)), closed])
  await closed
})

const SLOW_READERS = ['the visitors do not read', 'the site does not read'] as const
/** A slice tries one of the two with each kind of carrier. */
const SLOW = KINDS.flatMap((kind) => SLOW_READERS.map((who) => ({ ...kind, who }))).filter((_, index) =>
  atDepth(true, (index >> 1) % 2 === index % 2),
)

test.each(SLOW)(
  'bytes between a site with a carrier of $kind and its visitors, where $who',
  TIMEOUT,
  async ({ who, letter, connect }) => {
    const isToVisitors = who.startsWith('the visitors')
    const name = `${letter}-${isToVisitors ? 'to-visitors' : 'to-site'}`
    const lease = await relay.register(name)
    const capability = lease.reverse_endpoint.capability
    const link = await connect(relay, capability)
    const carrier = carrierOn(link)
    const hello = await captureHello(lease.hostname)
    const visitors = []
    // The identity may transfer next to nothing: the kernel would take megabytes for each visitor first.
    if (isToVisitors) {
      const policy = { identity_key: `${name}:${lease.identity.address}`, bps: 1000 }
      await relay.call('POST', '/api/policy/leases', policy, { Authorization: `Bearer ${ADMIN_TOKEN}` })
    }
    for (let i = 0; i < VISITORS; i++) {
      const { stream, read } = await carrier.open(capability)
      await read(1)
      const visitor = await relay.tcp()
      visitor.write(hello)
      await read(17 + hello.length)
      visitors.push(visitor)
      const bulk = Buffer.alloc(4 * WINDOW_BYTES)
      if (isToVisitors) stream.write(bulk).catch(() => {})
      else {
        // From now on nobody reads this stream: the relay gets no more credit than the first window.
        await stream.write(Buffer.of(1))
        visitor.write(bulk)
      }
    }
    expect(await growth()).toBeLessThan(GROWTH_MAX_BYTES)
    link.terminate()
    for (const visitor of visitors) visitor.destroy()
  },
)
