// Tests that visitors are served soon even when one network has taken all connections that a site serves.

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { MARKER, STREAM_ANSWER } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { DISPLACE_VISITOR_AFTER_MS } from '../../src/core/bridge/claim-session.ts'
import { socketReader } from '../support/api-socket.ts'
import { openCarrier } from '../support/carrier.ts'
import { parseExposition } from '../support/exposition.ts'
import type { TestClient } from '../support/relay.ts'
import { freePort, startTestRelay } from '../support/relay.ts'
import type { TestSession } from '../support/session.ts'

const CROWD = '127.0.0.2'
const OTHER = '127.0.0.3'
/** Visitors that a site of this test serves at once: more than twice the share of one source, which is 16 at least. */
const CONNECTIONS_MAX = 40
/** Pause of those who talk. */
const TALK_MS = 400
/** A timer may fire so much early. */
const TIMER_EARLY_MS = 5
const INTERNAL_ERROR = Buffer.of(21, 3, 3, 0, 2, 2, 80)

/** A site that serves this many visitors at once, and answers each with the first byte of its hello. */
class Site {
  serving = 0
  readonly hello: Buffer
  readonly #open: () => Promise<TestSession>
  readonly #max: number
  #ready = 0

  constructor(hello: Buffer, open: () => Promise<TestSession>, max: number) {
    this.hello = hello
    this.#open = open
    this.#max = max
    this.#fill()
  }

  #fill(): void {
    while (this.#ready < 2 && this.#ready + this.serving < this.#max) this.#serve().catch(() => {})
  }

  async #serve(): Promise<void> {
    this.#ready += 1
    const session = await this.#open()
    let marker = await session.read(1)
    while (marker[0] === MARKER.keepalive) marker = await session.read(1)
    this.#ready -= 1
    this.serving += 1
    this.#fill()
    try {
      await session.read(16 + this.hello.length)
      await session.write(this.hello.subarray(0, 1))
      for (let bytes = await session.read(1); bytes.length > 0; bytes = await session.read(1))
        await session.write(bytes)
    } finally {
      session.abort()
      this.serving -= 1
      this.#fill()
    }
  }
}

async function publish(relay: TestClient, name: string, max = CONNECTIONS_MAX): Promise<Site> {
  const lease = await relay.register(name)
  const capability = lease.reverse_endpoint.capability
  const carrier = await openCarrier(relay, capability)
  const open = async (): Promise<TestSession> => {
    const { stream, read } = await carrier.open(capability)
    if ((await read(1))[0] !== STREAM_ANSWER.accepted) throw new Error('rejected')
    return {
      read,
      write: (bytes) => stream.write(bytes),
      end: () => stream.end(),
      abort: () => stream.abort(),
      closed: stream.closed,
    }
  }
  return new Site(await captureHello(lease.hostname), open, max)
}

interface Visitor {
  socket: Socket
  /** The first byte, or nothing when the relay ends the connection. */
  answer: Promise<Buffer>
}

const opened: Socket[] = []
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy()
})

function visit(relay: TestClient, { hello }: Site, localAddress: string): Visitor {
  const socket = connect({ host: '127.0.0.1', port: relay.port, localAddress })
  socket.on('error', () => {})
  socket.write(hello)
  opened.push(socket)
  return { socket, answer: socketReader(socket)(1) }
}

/** Visitors of one source, who were all served. */
async function crowd(relay: TestClient, site: Site, count: number): Promise<Socket[]> {
  const visitors = Array.from({ length: count }, () => visit(relay, site, CROWD))
  for (const { answer } of visitors) expect(await answer).toEqual(site.hello.subarray(0, 1))
  return visitors.map(({ socket }) => socket)
}

const closedOf = (sockets: Socket[]): number[] =>
  sockets.flatMap((socket, index) => (socket.closed || socket.readableEnded ? [index] : []))

describe.each([1, 2])('with %i processes', (workers) => {
  let relay: Awaited<ReturnType<typeof startTestRelay>>
  beforeAll(async () => {
    relay = await startTestRelay({ SVC_WORKERS: `${workers}` })
  })
  afterAll(() => relay.close())

  test('a visitor of another source is served after a second, for one who was idle', async () => {
    const site = await publish(relay, 'crowd')
    const sockets = await crowd(relay, site, CONNECTIONS_MAX)
    // But for ten, they go on talking.
    const talking = setInterval(() => {
      for (const socket of sockets.slice(10)) socket.write('x')
    }, TALK_MS)
    const from = performance.now()
    const { answer } = visit(relay, site, OTHER)
    expect(await answer).toEqual(site.hello.subarray(0, 1))
    expect(performance.now() - from).toBeGreaterThan(DISPLACE_VISITOR_AFTER_MS - TIMER_EARLY_MS)
    clearInterval(talking)
    const closed = closedOf(sockets)
    expect(closed.length).toBeGreaterThanOrEqual(1)
    expect(closed.length).toBeLessThanOrEqual(2)
    for (const index of closed) expect(index).toBeLessThan(10)
  })
})

/** Reads how many visitors the relay has, served or waiting. */
const waitingAt = (metrics: string) => async (): Promise<number | undefined> => {
  const families = parseExposition(await (await fetch(metrics)).text())
  return families.get('svc_relay_visitor_connections')?.samples.get('svc_relay_visitor_connections')
}

describe('in one process', () => {
  let relay: Awaited<ReturnType<typeof startTestRelay>>
  let metrics: string
  beforeAll(async () => {
    const port = await freePort()
    metrics = `http://127.0.0.1:${port}/metrics`
    relay = await startTestRelay({ METRICS_ADDR: `${port}` })
  })
  afterAll(() => relay.close())

  test('sources that have no more than their share, or 16, lose nobody', async () => {
    const site = await publish(relay, 'small', 16)
    const sockets = await crowd(relay, site, 16)
    const { socket, answer } = visit(relay, site, OTHER)
    await sleep(3_000)
    expect(closedOf(sockets)).toEqual([])
    sockets[7]?.destroy()
    expect(await answer).toEqual(site.hello.subarray(0, 1))
    socket.destroy()
  })

  test('a source whose visitors all come at once displaces none of its own', async () => {
    const site = await publish(relay, 'burst')
    const visitors = Array.from({ length: CONNECTIONS_MAX + 8 }, () => visit(relay, site, CROWD))
    await expect.poll(() => site.serving).toBe(CONNECTIONS_MAX)
    // Those who wait are sent away some time, later than this or not.
    const served: Socket[] = []
    for (const { socket, answer } of visitors)
      void answer.then((bytes) => bytes.equals(site.hello.subarray(0, 1)) && served.push(socket))
    await expect.poll(() => served.length).toBe(CONNECTIONS_MAX)
    await sleep(4_000)
    expect(closedOf(served)).toEqual([])
    expect(site.serving).toBe(CONNECTIONS_MAX)
  })

  test('those who wait from a source with its share come last', async () => {
    const site = await publish(relay, 'last', 40)
    const sockets = await crowd(relay, site, 40)
    const more = Array.from({ length: 30 }, () => visit(relay, site, CROWD))
    await sleep(300)
    const { answer } = visit(relay, site, OTHER)
    await sleep(300)
    sockets[0]?.destroy()
    expect(await answer).toEqual(site.hello.subarray(0, 1))
    expect(more.map(({ socket }) => socket.bytesRead)).toEqual(Array(30).fill(0))
  })

  test('256 of one source may wait; one more is turned away at once', async () => {
    await expect.poll(waitingAt(metrics)).toBe(0)
    const { hostname } = await relay.register('nobody')
    const hello = await captureHello(hostname)
    const site = { hello } as Site
    const waiting = Array.from({ length: 256 }, () => visit(relay, site, CROWD))
    await expect.poll(waitingAt(metrics)).toBe(256)
    const socket = connect({ host: '127.0.0.1', port: relay.port, localAddress: CROWD })
    socket.write(hello)
    expect(await socketReader(socket)(7)).toEqual(INTERNAL_ERROR)
    expect(closedOf(waiting.map(({ socket }) => socket))).toEqual([])
    const other = visit(relay, site, OTHER)
    await sleep(300)
    expect(other.socket.bytesRead).toBe(0)
    socket.destroy()
  })
})
