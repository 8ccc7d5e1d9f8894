// A hostile visitor of stored files costs others nothing: they are served all the while.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readlink } from 'node:fs/promises'
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { REQUEST_FIELDS_MAX, REQUEST_HEAD_MAX_BYTES } from '@svc/node-kit/http'
import { afterAll, beforeAll, describe, test as every, expect, onTestFinished } from 'vitest'
import { collectedMemory } from '../../../../tools/collected-memory.ts'
import { captureHello } from '../../../../tools/network/client-hello.ts'
import { wholeOnly } from '../../../../tools/test-depth.ts'
import { API_HEAD_DEADLINE_MS } from '../../../src/core/http/deadlines.ts'
import {
  FILE_BYTES_PER_NETWORK_MAX,
  FILES_HELD_MAX,
  HTTP2_RESETS_BURST,
  HTTP2_STREAMS_MAX,
  SITE_CONNECTIONS_PER_NETWORK_MAX,
  VISITOR_WRITE_DEADLINE_MS,
} from '../../../src/features/static-cache/server/limits.ts'
import { newLease } from '../../support/lease.ts'
import { type CachedSite, HOSTNAME, received, startCachedSite } from './cached-site.ts'

const test = wholeOnly(every, 'faults')

const FILM = randomBytes(10 * 1024 * 1024)
const WEBSOCKET: string[] = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
const ORIGIN = `https://${HOSTNAME}`

let site: CachedSite
beforeAll(async () => {
  site = await startCachedSite()
  await site.snapshots.put({ 'index.html': 'stored', 'film.webm': FILM, 'small.bin': randomBytes(16_000) })
})
afterAll(() => site.close())

function head(path: string, ...fields: string[]): string {
  return [`GET ${path} HTTP/1.1`, `Host: ${HOSTNAME}`, ...fields, '', ''].join('\r\n')
}

async function answer(text: string | Buffer): Promise<string> {
  const visitor = await site.tls()
  const all = received(visitor)
  visitor.write(text)
  return (await all).toString('latin1')
}

async function stillServes(): Promise<void> {
  expect(await answer(head('/', 'Connection: close'))).toMatch(/^HTTP\/1.1 200 [\s\S]*stored$/)
}

/** Resolves when the connection is closed, or reset. */
function ended(visitor: Socket): Promise<void> {
  return new Promise((resolve) =>
    visitor
      .on('error', () => {})
      .resume()
      .once('close', () => resolve()),
  )
}

async function http2(settings: object = {}): Promise<ClientHttp2Session> {
  const createConnection = () => connection
  const connection = await site.tls({ ALPNProtocols: ['h2'] })
  const session = connectHttp2(ORIGIN, { createConnection, settings }).on('error', () => {})
  await once(session, 'connect')
  return session
}

describe('heads', () => {
  test.each([
    ['two lengths', head('/', 'Content-Length: 1', 'Content-Length: 2'), 400],
    ['a length and chunks', head('/', 'Content-Length: 1', 'Transfer-Encoding: chunked'), 400],
    ['chunks that are not last', head('/', 'Transfer-Encoding: chunked, x'), 400],
    ['a field name with a blank', head('/', 'X : 1'), 400],
    ['a field that is folded', head('/', 'X: 1', ' 2'), 400],
    ['bare line feeds', head('/').replaceAll('\r\n', '\n'), 400],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', head('/', `Host: ${HOSTNAME}`), 400],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['another port', head('/').replace(HOSTNAME, `${HOSTNAME}:34100`), 421],
    ['another host in absolute form', head('https://relay.localhost/app.js'), 421],
    ['a user in absolute form', head(`https://user@${HOSTNAME}/`), 421],
    ['two blanks in the request line', head(' /'), 400],
    ['another version', head('/').replace('1.1', '2.0'), 505],
    ['a fragment', head('/#a'), 400],
    ['another coding', head('/', 'Transfer-Encoding: gzip, chunked'), 501],
    ['too many fields', head('/', ...Array<string>(REQUEST_FIELDS_MAX).fill('X: 1')), 431],
    ['too many bytes', head('/', `X: ${'x'.repeat(REQUEST_HEAD_MAX_BYTES)}`), 431],
    ['another TLS name in Host', head('/').replace(HOSTNAME, 'relay.localhost'), 421],
  ])('%s', async (_what, text, status) => {
    expect(await answer(text)).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*Connection: close`))
    await stillServes()
  })

  test('just as many fields, the same host in absolute form, and HTTP/1.0 without Host are served', async () => {
    const fields = Array<string>(REQUEST_FIELDS_MAX - 2).fill('X: 1')
    expect(await answer(head('/', 'Connection: close', ...fields))).toMatch(/^HTTP\/1.1 200 /)
    expect(
      await answer(head(`HTTPS://${HOSTNAME.toUpperCase()}:443/index.html?x`, 'Connection: close')),
    ).toMatch(/^HTTP\/1.1 200 /)
    expect(await answer('GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /)
  })

  test('of HTTP/2: too many fields or bytes, and hosts that differ', async () => {
    const fields = Object.fromEntries(
      Array.from({ length: REQUEST_FIELDS_MAX + 1 }, (_, number) => [`x${number}`, '1']),
    )
    await expect(ask(await http2(), { ':path': '/', ...fields })).rejects.toThrow()
    await expect(ask(await http2(), { ':path': '/', x: 'x'.repeat(64 * 1024) })).rejects.toThrow()
    expect(await ask(await http2(), { ':path': '/', ':authority': 'relay.localhost' })).toBe(421)
    expect(await ask(await http2(), { ':path': '/', host: 'relay.localhost' })).toBe(421)
    expect(await ask(await http2(), { ':path': '/' })).toBe(200)
    await stillServes()
  })
})

async function ask(session: ClientHttp2Session, headers: Record<string, string>): Promise<number> {
  const request = session.request(headers).resume()
  try {
    const [{ ':status': status }] = await once(request, 'response', { signal: AbortSignal.timeout(20_000) })
    return status
  } finally {
    session.destroy()
  }
}

describe.concurrent('time', () => {
  test('a handshake that stops is cut', async () => {
    const started = performance.now()
    const visitor = await site.tcp()
    visitor.write(await captureHello(HOSTNAME))
    await ended(visitor)
    expect(performance.now() - started).toBeGreaterThan(API_HEAD_DEADLINE_MS - 100)
  })

  test('so is a head that crawls, first or second on its connection', async () => {
    const crawls = ['', head('/')].map(async (before) => {
      const visitor = await site.tls()
      visitor.write(`${before}GET / HTTP/1.1\r\n`)
      const crawl = setInterval(() => visitor.write('x'), 500)
      const all = await received(visitor)
      clearInterval(crawl)
      expect(all.toString('latin1')).toMatch(/HTTP\/1.1 408 /)
    })
    await Promise.all(crawls)
  })

  test('a visitor who reads nothing loses its connection, one who reads slowly gets all', async () => {
    const before = site.snapshots.borrowed
    const stuck = await site.tls()
    stuck.pause().write(head('/film.webm'))
    const slow = await site.tls()
    slow.write(head('/film.webm', 'Connection: close'))
    let bytesOfSlow = 0
    const isSlowDone = readSlowly(slow, (bytes) => {
      bytesOfSlow += bytes
    })
    await expect.poll(() => site.snapshots.borrowed).toBeGreaterThanOrEqual(before + 2)
    await isSlowDone
    expect(bytesOfSlow).toBeGreaterThan(FILM.length)
    // A reset is noticed by who reads.
    const all = await received(stuck)
    expect(all.length).toBeLessThan(FILM.length)
  })

  test('a stream that a visitor does not read is reset alone', async () => {
    const session = await http2({ initialWindowSize: 0 })
    const stuck = session.request({ ':path': '/film.webm' })
    const closed = once(stuck, 'close')
    const ping = setInterval(() => session.ping(() => {}), 1_000)
    await closed
    clearInterval(ping)
    expect(stuck.rstCode).toBe(constants.NGHTTP2_CANCEL)
    expect(session.closed).toBe(false)
    session.destroy()
  })
})

/** Takes so long for the film that a deadline for the whole would have passed. */
async function readSlowly(visitor: TLSSocket, onBytes: (bytes: number) => void): Promise<void> {
  const pieces = 20
  const pauseMs = (VISITOR_WRITE_DEADLINE_MS * 1.2) / pieces
  let left = FILM.length / pieces
  visitor.on('data', ({ length }: Buffer) => {
    onBytes(length)
    left -= length
    if (left > 0) return
    left = FILM.length / pieces
    visitor.pause()
    setTimeout(() => visitor.resume(), pauseMs)
  })
  await once(visitor, 'end')
}

describe('memory and descriptors', () => {
  test('visitors who do not read large files hold little of both, and others are served', async () => {
    const visitors: TLSSocket[] = []
    const before = collectedMemory().buffers
    for (let count = 0; count < 2 * FILES_HELD_MAX; count++) {
      const visitor = await site.tls()
      visitor.pause().write(head('/film.webm'))
      visitors.push(visitor)
    }
    await expect.poll(() => site.snapshots.borrowed).toBe(visitors.length)
    expect(collectedMemory().buffers - before).toBeLessThan(2 * FILE_BYTES_PER_NETWORK_MAX)
    // Those beyond open theirs for a moment.
    await expect.poll(openFilms).toBeLessThanOrEqual(FILES_HELD_MAX)
    await stillServes()
    for (const visitor of visitors) visitor.destroy()
    await expect.poll(() => site.snapshots.borrowed).toBe(0)
    await expect.poll(openFilms).toBe(0)
  })

  test('beyond the memory of a network a visitor is told to come back, and small files are served', async () => {
    const visitors: TLSSocket[] = []
    // Those of a test that failed would keep the others out.
    onTestFinished(() => {
      for (const visitor of visitors) visitor.destroy()
    })
    let refused = ''
    // Each takes 64 KiB, once half of the memory is used.
    while (refused === '' && visitors.length < 400) {
      const visitor = await site.tls()
      visitor.write(head('/film.webm'))
      const [first] = (await once(visitor, 'data')) as [Buffer]
      visitor.pause()
      if (!first.toString('latin1').startsWith('HTTP/1.1 200 ')) refused = first.toString('latin1')
      visitors.push(visitor)
    }
    expect(refused).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: /)
    await stillServes()
    for (const visitor of visitors) visitor.destroy()
    await expect.poll(() => site.snapshots.borrowed).toBe(0)
    await stillServes()
  })

  test.each(['/film.webm', '/small.bin'])(
    'answers with %s that wait for one another end with their connection, also behind them a WebSocket is asked for',
    async (path) => {
      const visitor = await site.tls()
      visitor.pause()
      visitor.write(head('/film.webm') + head(path).repeat(5) + head('/', ...WEBSOCKET))
      await ended(visitor)
      await expect.poll(() => site.server.connections).toBe(0)
      await expect.poll(() => site.snapshots.borrowed).toBe(0)
    },
  )

  test('a flood of requests without reading the answers stops, and costs little', async () => {
    const visitor = await site.tls()
    visitor.pause()
    const before = process.memoryUsage().rss
    const [hits, requests] = [site.results.length, 30_000]
    visitor.write(head('/small.bin').repeat(requests))
    await expect.poll(() => site.results.length).toBeGreaterThan(hits)
    await pause(500)
    await stillServes()
    expect(site.results.length - hits).toBeLessThan(requests / 10)
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024)
    visitor.destroy()
    await expect.poll(() => site.snapshots.borrowed).toBe(0)
  })

  test('a connection with many requests that wait for the live site is cut', async () => {
    const waiting = await startCachedSite({
      live: { forward: () => new Promise(() => {}), upgrade: async () => false, close: async () => {} },
    })
    await waiting.snapshots.put({ 'index.html': 'stored' })
    waiting.snapshots.lease = newLease()
    const visitor = await waiting.tls()
    const closed = ended(visitor)
    visitor.write(head('/missing.js').repeat(100))
    await closed
    await waiting.close()
  })

  async function openFilms(): Promise<number> {
    const links = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    )
    return links.filter((link) => link.startsWith(site.directory)).length
  }
})

test('one network has so many connections to a site at most', async () => {
  const hello = await captureHello(HOSTNAME)
  const visitors = await Promise.all(
    Array.from({ length: SITE_CONNECTIONS_PER_NETWORK_MAX }, () => site.tcp()),
  )
  for (const visitor of visitors) visitor.write(hello)
  // Each is answered with a ServerHello.
  await Promise.all(visitors.map((visitor) => once(visitor, 'data')))
  const more = await site.tcp()
  const closed = ended(more)
  more.write(hello)
  await closed
  expect(visitors.filter((visitor) => visitor.closed)).toEqual([])
  for (const visitor of visitors) visitor.destroy()
  await expect
    .poll(() =>
      stillServes().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
})

describe('frames of HTTP/2', () => {
  /** A frame (RFC 9113 §4.1). */
  function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
    const header = Buffer.alloc(9)
    header.writeUIntBE(payload.length, 0, 3)
    header.writeUInt8(type, 3)
    header.writeUInt8(flags, 4)
    header.writeUInt32BE(stream, 5)
    return Buffer.concat([header, payload])
  }
  const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)])

  /** Writes frames until the relay ends the connection. @returns whether it did */
  async function flood(frames: Buffer, times: number): Promise<boolean> {
    const visitor = await site.tls({ ALPNProtocols: ['h2'] })
    // Nothing is read, so that the answers have to wait in the relay.
    visitor.pause().write(PREFACE)
    for (let count = 0; count < times && !visitor.destroyed; count++) {
      // A relay that waits for its answers to leave reads no more.
      if (!visitor.write(frames) && !(await isDrained(visitor))) break
      await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.race([ended(visitor), pause(5_000)])
    const isEnded = visitor.destroyed
    visitor.destroy()
    return isEnded
  }

  async function isDrained(visitor: TLSSocket): Promise<boolean> {
    const drained = once(visitor, 'drain').then(
      () => true,
      () => false,
    )
    return await Promise.race([drained, pause(2_000).then(() => false)])
  }

  test.each([
    ['pings', frame(6, 0, 0, Buffer.alloc(8))],
    ['settings', frame(4, 0, 0)],
  ])('a flood of %s whose answers nobody reads ends the connection', async (_what, one) => {
    const before = process.memoryUsage().rss
    expect(await flood(Buffer.concat(Array<Buffer>(2_000).fill(one)), 200)).toBe(true)
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024)
    await stillServes()
  })

  test('streams that are reset at once, again and again, end the connection (CVE-2023-44487)', async () => {
    const session = await http2()
    const closed = new Promise<void>((resolve) => session.once('close', () => resolve()))
    let goaway: number | undefined
    session.on('goaway', (code) => {
      goaway = code
    })
    for (let count = 0; count < 10 * HTTP2_RESETS_BURST && !session.destroyed; count++) {
      const request = session.request({ ':path': '/film.webm' }).on('error', () => {})
      request.close(constants.NGHTTP2_CANCEL)
      if (count % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await closed
    expect(goaway).toBeGreaterThan(constants.NGHTTP2_NO_ERROR)
    await stillServes()
  })

  test('continuation frames without end end the connection (CVE-2024-27316)', async () => {
    const headers = frame(1, 0, 1, Buffer.from([0x82]))
    const more = frame(9, 0, 1, Buffer.concat(Array<Buffer>(100).fill(Buffer.from([0x00, 1, 0x78, 1, 0x78]))))
    expect(await flood(Buffer.concat([headers, ...Array<Buffer>(1_000).fill(more)]), 1)).toBe(true)
    await stillServes()
  })

  test('more streams than announced are refused', async () => {
    const session = await http2({ initialWindowSize: 0 })
    expect(session.remoteSettings.maxConcurrentStreams).toBe(HTTP2_STREAMS_MAX)
    session.destroy()
  })
})
