// As many idle TLS connections as a site may have, at a real relay: one more visitor is served, and no busy visitor is cut off.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, it as every, expect } from 'vitest'
import { CONNECTION_STREAMS_MANY } from '../../../sdk-core/src/carrier/multiplexed-carrier.ts'
import { collectedMemory } from '../../../tools/collected-memory.ts'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { type NodePublishOptions, publish, type Site, type SitePressureEvent } from '../../src/index.ts'
import { startTestRelay } from '../support/relay.ts'

const it = wholeOnly(every, 'depth')

/** The whole is the default of `publish`. */
const CONNECTIONS: number = atDepth(1024, 96)
/** Visitors in their handshakes at once. */
const ARRIVING = 16
/**
 * Bytes of memory of this process, which is the site's alone: its visitors are in a thread of their own. Measured were 25 KB.
 */
const IDLE_CONNECTION_MAX_BYTES: number = 48 * 1024
const BUSY = 4

let site: Site
let pressure: SitePressureEvent[]
let crowd: Crowd

const relay = useStarted(startTestRelay)
beforeEach(() => {
  pressure = []
})
afterEach(async () => {
  await crowd.leave()
  await site.close()
})

async function publishAt(
  options: Pick<NodePublishOptions, 'fetch'> & Partial<NodePublishOptions>,
): Promise<void> {
  const identity = Uint8Array.from(randomBytes(32))
  const name = `many${randomBytes(6).toString('hex')}`
  site = await publish({ relay: relay.origin, ca: relay.ca, name, identity, ...options })
  site.addEventListener('pressure', (event) => pressure.push(event))
  crowd = new Crowd()
}

/** Visitors in a thread of their own: what they hold is not the site's. */
class Crowd {
  #worker = new Worker(new URL('../support/idle-visitors.ts', import.meta.url), {
    workerData: { url: site.url, port: relay.port, ca: relay.ca, arriving: ARRIVING },
  })
  ended = 0

  constructor() {
    this.#worker.on('message', ({ ended }) => {
      this.ended += ended ?? 0
    })
  }

  /** Resolves when all have made their handshake. */
  async come(count: number): Promise<void> {
    this.#worker.postMessage({ count })
    for (;;) {
      const [{ come, error }] = await once(this.#worker, 'message')
      if (error) throw new Error(error)
      if (come === count) return
    }
  }

  async leave(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** Visits on a connection of its own. */
async function visit(request: string): Promise<{ socket: TLSSocket; read: () => string }> {
  const { hostname, host } = new URL(site.url)
  const socket = tlsConnect({ host: '127.0.0.1', port: relay.port, servername: hostname, ca: relay.ca })
  let read = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    read += String(chunk)
  })
  socket.write(`${request.replace('HOST', host)}\r\n\r\n`)
  return { socket, read: () => read }
}

/** @returns bytes of heap and buffers, once garbage is collected */
function memory(): number {
  const { heap, buffers } = collectedMemory()
  return heap + buffers
}

it(`${CONNECTIONS} idle connections, and one more that is served at once`, async () => {
  await publishAt({
    maxConnections: CONNECTIONS,
    fetch: ({ url }) => new Response(`answer to ${new URL(url).pathname}`),
  })
  await crowd.come(32)
  const before = memory()
  await crowd.come(CONNECTIONS - 32)
  await expect
    .poll(() => site.stats())
    .toMatchObject({
      connections: { open: CONNECTIONS, idle: CONNECTIONS, max: CONNECTIONS, closedForOthers: 0 },
      ...(CONNECTIONS > CONNECTION_STREAMS_MANY && { webSockets: 2 }),
    })
  const perConnection = (memory() - before) / (CONNECTIONS - 32)
  expect(perConnection).toBeLessThan(IDLE_CONNECTION_MAX_BYTES)

  for (let more = 1; more <= 3; more++) {
    const { socket, read } = await visit('GET /more HTTP/1.1\r\nHost: HOST\r\nConnection: close')
    await once(socket, 'close')
    expect(read()).toContain('answer to /more')
  }
  await expect.poll(() => pressure.length).toBeGreaterThan(0)
  expect(pressure[0]).toMatchObject({ isFull: false })
  expect(site.stats().connections.closedForOthers).toBeGreaterThan(0)
  await expect.poll(() => crowd.ended).toBe(site.stats().connections.closedForOthers)
})

it('requests under way are not cut by a crowd of idle visitors, nor is anybody who is served', async () => {
  const MAX = atDepth(32, 12)
  const answers = Promise.withResolvers<void>()
  await publishAt({
    maxConnections: MAX,
    fetch: async () => {
      await answers.promise
      return new Response('whole')
    },
  })
  const polls = await Promise.all(
    Array.from({ length: BUSY }, () => visit('GET /poll HTTP/1.1\r\nHost: HOST\r\nConnection: close')),
  )
  await expect.poll(() => site.stats().connections.open).toBe(BUSY)
  await crowd.come(4 * MAX)
  await expect.poll(() => site.stats().connections).toMatchObject({ idle: MAX - BUSY, open: MAX })
  expect(site.stats().connections.closedForOthers).toBe(4 * MAX + BUSY - MAX)
  expect(polls.map(({ socket }) => socket.readableEnded || socket.destroyed)).toEqual(Array(BUSY).fill(false))
  answers.resolve()
  await Promise.all(polls.map(({ socket }) => once(socket, 'close')))
  for (const { read } of polls) expect(read()).toContain('whole')
})

it('over HTTP/2 the one without streams that was idle longest gets GOAWAY, and one with a stream stays', async () => {
  const answers = Promise.withResolvers<void>()
  await publishAt({
    maxConnections: 3,
    fetch: async ({ url }) => {
      if (url.endsWith('/poll')) await answers.promise
      return new Response('whole')
    },
  })
  const goAways: [name: string, code: number][] = []
  const come = (name: string): ClientHttp2Session => {
    const { hostname, host } = new URL(site.url)
    const session = connectHttp2(`https://${host}`, {
      createConnection: () =>
        tlsConnect({
          host: '127.0.0.1',
          port: relay.port,
          servername: hostname,
          ca: relay.ca,
          ALPNProtocols: ['h2'],
        }),
    })
    session.on('goaway', (code) => goAways.push([name, code]))
    session.on('error', () => {})
    return session
  }
  const ask = async (session: ClientHttp2Session, path: string): Promise<string> => {
    const stream = session.request({ ':path': path })
    let text = ''
    stream.on('data', (chunk) => {
      text += String(chunk)
    })
    await once(stream, 'end')
    return text
  }
  const polling = come('polling')
  const polled = ask(polling, '/poll')
  for (const name of ['first', 'second']) await ask(come(name), '/')
  await expect.poll(() => site.stats().connections).toMatchObject({ open: 3, idle: 2 })
  await new Promise((resolve) => setTimeout(resolve, 500))
  const third = come('third')
  expect(await ask(third, '/')).toBe('whole')
  await expect.poll(() => goAways).toEqual([['first', 0]])
  answers.resolve()
  expect(await polled).toBe('whole')
  for (const session of [polling, third]) session.destroy()
})
