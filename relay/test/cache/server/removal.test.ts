// Tests the end of visitors' connections when a snapshot goes, when its files cannot be read, and when the relay closes.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { truncate, unlink } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CLOSE_GRACE_MS } from '../../../src/core/ingress/open-sockets.ts'
import { CACHE_CLOSING_MAX_MS } from '../../../src/features/static-cache/closing-sites.ts'
import { type CachedSite, HOSTNAME, received, startCachedSite } from './cached-site.ts'

const FILM = randomBytes(10 * 1024 * 1024)
const GET_FILM = `GET /film.webm HTTP/1.1\r\nHost: ${HOSTNAME}\r\n\r\n`
const GET_INDEX = `GET / HTTP/1.1\r\nHost: ${HOSTNAME}\r\n\r\n`

let site: CachedSite
let isOpen = true
beforeEach(async () => {
  isOpen = true
  site = await startCachedSite()
  await site.snapshots.put({ 'index.html': 'stored', 'film.webm': FILM })
})
afterEach(async () => {
  if (isOpen) await site.close()
})

/** A visitor who has received the beginning of the film, and reads on only when it is told to. */
async function startFilm(): Promise<TLSSocket> {
  const visitor = await site.tls()
  visitor.write(GET_FILM)
  await once(visitor, 'readable')
  return visitor
}

/** A visitor who has had a response, and keeps its connection. */
async function startIdle(): Promise<TLSSocket> {
  const visitor = await site.tls()
  visitor.write(GET_INDEX)
  await once(visitor, 'data')
  return visitor
}

function bodyOf(all: Buffer): Buffer {
  return all.subarray(all.indexOf('\r\n\r\n') + 4)
}

test('a removed snapshot: what has begun is sent whole, and idle connections end', async () => {
  const [film, idle] = [await startFilm(), await startIdle()]
  const idleEnded = once(idle, 'end')
  site.snapshots.remove(false)
  await idleEnded
  const all = await received(film)
  expect(bodyOf(all).equals(FILM)).toBe(true)
  await expect.poll(() => site.snapshots.borrowed).toBe(0)
})

test('the same over HTTP/2', async () => {
  const connection = await site.tls({ ALPNProtocols: ['h2'] })
  const session = connectHttp2(`https://${HOSTNAME}`, { createConnection: () => connection })
  const film = session.request({ ':path': '/film.webm' })
  await once(film, 'readable')
  const closed = once(session, 'close')
  site.snapshots.remove(false)
  expect(Buffer.concat(await film.toArray()).equals(FILM)).toBe(true)
  await closed
})

test.each([
  ['HTTP/1.1', 'http/1.1'],
  ['HTTP/2', 'h2'],
])('over %s a visitor who takes longer than a minute for it is cut', async (_what, protocol) => {
  const connection = await site.tls({ ALPNProtocols: [protocol] })
  if (protocol === 'h2') {
    const session = connectHttp2(`https://${HOSTNAME}`, { createConnection: () => connection })
    session.on('error', () => {})
    const film = session.request({ ':path': '/film.webm' }).on('error', () => {})
    await once(film, 'readable')
  } else {
    connection.write(GET_FILM)
    await once(connection, 'readable')
  }
  const closed = new Promise((resolve) => connection.once('close', resolve))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    site.snapshots.remove(false)
    await vi.advanceTimersByTimeAsync(CACHE_CLOSING_MAX_MS - 1)
    expect(site.snapshots.borrowed).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
  } finally {
    vi.useRealTimers()
  }
  await expect.poll(() => site.snapshots.borrowed).toBe(0)
  connection.resume()
  await closed
})

test('a connection takes no request after its snapshot was removed, also when another one is there', async () => {
  const film = await startFilm()
  site.snapshots.remove(false)
  await site.snapshots.put({ 'index.html': 'changed' })
  film.write(GET_INDEX)
  const all = bodyOf(await received(film))
  expect(all.subarray(0, FILM.length).equals(FILM)).toBe(true)
  expect(all.subarray(FILM.length).toString('latin1')).toMatch(/^HTTP\/1.1 421 [\s\S]*Connection: close/)
})

test('over HTTP/2 the visitor hears so at once', async () => {
  const connection = await site.tls({ ALPNProtocols: ['h2'] })
  const session = connectHttp2(`https://${HOSTNAME}`, { createConnection: () => connection })
  const film = session.request({ ':path': '/film.webm' })
  await once(film, 'readable')
  const goaway = once(session, 'goaway')
  site.snapshots.remove(false)
  expect((await goaway)[0]).toBe(0)
  await expect(once(session.request({ ':path': '/' }), 'response')).rejects.toThrow('GOAWAY')
  expect(Buffer.concat(await film.toArray()).equals(FILM)).toBe(true)
})

describe('a visitor who has connected, and has asked for nothing yet, when its snapshot is removed', () => {
  test('hears over HTTP/1.1 that it must connect again', async () => {
    const visitor = await site.tls()
    site.snapshots.remove(false)
    visitor.write(GET_INDEX)
    expect((await received(visitor)).toString('latin1')).toMatch(/^HTTP\/1.1 421 [\s\S]*Connection: close/)
  })

  test('and over HTTP/2', async () => {
    const connection = await site.tls({ ALPNProtocols: ['h2'] })
    const session = connectHttp2(`https://${HOSTNAME}`, { createConnection: () => connection })
    await once(session, 'connect')
    await once(session, 'remoteSettings')
    const closed = once(session, 'close')
    site.snapshots.remove(false)
    const [fields] = await once(session.request({ ':path': '/' }), 'response')
    expect(fields[':status']).toBe(421)
    await closed
  })

  test('and in the middle of its handshake', async () => {
    const arriving = site.tls({ ALPNProtocols: ['h2'] })
    await expect.poll(() => site.server.connections, { interval: 1 }).toBe(1)
    site.snapshots.remove(false)
    const connection = await arriving
    const session = connectHttp2(`https://${HOSTNAME}`, { createConnection: () => connection })
    const [fields] = await once(session.request({ ':path': '/' }), 'response')
    expect(fields[':status']).toBe(421)
  })

  test('is cut when it does not ask soon', async () => {
    const visitor = await site.tls()
    const closed = received(visitor)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      site.snapshots.remove(false)
      await vi.advanceTimersByTimeAsync(CLOSE_GRACE_MS - 1)
      expect(site.server.connections).toBe(1)
      await vi.advanceTimersByTimeAsync(1)
    } finally {
      vi.useRealTimers()
    }
    expect(await closed).toHaveLength(0)
  })
})

test('a ban cuts what has begun, also after the snapshot was removed', async () => {
  const film = await startFilm()
  const all = received(film)
  site.snapshots.remove(false)
  site.snapshots.remove(true)
  expect((await all).length).toBeLessThan(FILM.length)
  await expect.poll(() => site.snapshots.borrowed).toBe(0)
})

test('a ban cuts what has begun', async () => {
  const [film, idle] = [await startFilm(), await startIdle()]
  const all = received(film)
  const idleClosed = received(idle)
  site.snapshots.remove(true)
  expect((await all).length).toBeLessThan(FILM.length)
  await idleClosed
  await expect.poll(() => site.snapshots.borrowed).toBe(0)
})

test('a request that comes on a connection after its snapshot went is for another connection', async () => {
  const visitor = await site.tls()
  site.snapshots.snapshot = undefined
  visitor.write(GET_INDEX)
  expect((await received(visitor)).toString('latin1')).toMatch(/^HTTP\/1.1 421 [\s\S]*Connection: close/)
})

test('a new snapshot is served at once, on connections that are open too', async () => {
  const visitor = await startIdle()
  await site.snapshots.put({ 'index.html': 'changed' })
  visitor.write(GET_INDEX)
  const [answer] = await once(visitor, 'data')
  expect(String(answer)).toMatch(/changed$/)
  visitor.destroy()
})

describe('a file that cannot be read', () => {
  const pathOf = (name: string): string =>
    join(site.directory, site.snapshots.snapshot!.files.get(name)!.sha256)

  async function statusOf(request: string): Promise<string> {
    const visitor = await site.tls()
    visitor.write(request)
    return (await received(visitor)).toString('latin1').slice(0, 'HTTP/1.1 200'.length)
  }

  test.each([
    ['small', 'index.html', GET_INDEX],
    ['large', 'film.webm', GET_FILM],
  ])('a %s one is an error of the relay, and nothing stays borrowed', async (_what, name, request) => {
    await unlink(pathOf(name))
    expect(await statusOf(request)).toBe('HTTP/1.1 500')
    await expect.poll(() => site.snapshots.borrowed).toBe(0)
  })

  test('one of another size is not sent', async () => {
    await truncate(pathOf('index.html'), 3)
    expect(await statusOf(GET_INDEX)).toBe('HTTP/1.1 500')
  })

  test('one that ends early cuts the connection, so that nobody takes it for whole', async () => {
    const film = await startFilm()
    await truncate(pathOf('film.webm'), 1000)
    expect(bodyOf(await received(film)).length).toBeLessThan(FILM.length)
    await expect.poll(() => site.snapshots.borrowed).toBe(0)
  })
})

test('a relay that closes lets short responses leave, and no visitor stays', async () => {
  const [idle, film] = [await startIdle(), await startFilm()]
  isOpen = false
  const [ended] = await Promise.all([received(idle), received(film), site.close()])
  expect(ended.length).toBe(0)
  expect(site.snapshots.borrowed).toBe(0)
})
