// A site with as many connections as it may have: idle ones make way for new visitors, in order, and nothing else does.

import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { publishOn } from '../../src/publish.ts'
import type { DebugEvent } from '../../src/site/debug-event.ts'
import type { PublishOptions } from '../../src/site/options.ts'
import type { Site, SitePressureEvent } from '../../src/site/site.ts'
import { CONNECTIONS_DEFAULT } from '../../src/site/visitor-dispatcher.ts'
import { IDLE_MIN_MS } from '../../src/tenant/connection-limiter.ts'
import { FULL_TOLD_AFTER_MS, PRESSURE_INTERVAL_MS } from '../../src/tenant/pressure-reporter.ts'
import { RelayDouble, testPlatform } from '../support/relay-double.ts'

const HOST = 'demo.relay.localhost'
const get = (path: string, fields = ''): string => `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n${fields}\r\n`
const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'

let relay: RelayDouble
let site: Site
let pressure: SitePressureEvent[]
let visitors: Visitor[]
/** Resolves what `/poll` waits for. */
let answerPolls: () => void

beforeEach(async () => {
  relay = await RelayDouble.start()
  pressure = []
  visitors = []
})
afterEach(async () => {
  for (const { socket } of visitors) socket.destroy()
  await site.close()
  await relay.crash()
})

async function publish(maxConnections: number, options: Partial<PublishOptions> = {}): Promise<void> {
  const polls = new Promise<void>((resolve) => {
    answerPolls = resolve
  })
  site = await publishOn(testPlatform(), {
    relay: relay.url,
    name: 'demo',
    maxConnections,
    fetch: async (request, { upgrade }) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/poll') await polls
      if (pathname === '/socket') return upgrade(request).response
      if (pathname === '/events') return new Response(new ReadableStream({ pull: () => {} }))
      return new Response(`answer to ${pathname}`)
    },
    ...options,
  })
  site.addEventListener('pressure', (event) => pressure.push(event))
}

/** A visitor who was served, and what it has read since it came. */
interface Visitor {
  socket: TLSSocket
  read: string
  /** How it ended: with close_notify, or broken off. */
  end: 'in order' | 'broken' | undefined
}

async function visit(request = ''): Promise<Visitor> {
  const socket = await relay.visit(HOST)
  const visitor: Visitor = { socket, read: '', end: undefined }
  visitors.push(visitor)
  socket.on('data', (chunk) => {
    visitor.read += String(chunk)
  })
  socket.on('end', () => {
    visitor.end = 'in order'
  })
  socket.on('error', () => {
    visitor.end ??= 'broken'
  })
  if (request) await ask(visitor, request)
  return visitor
}

async function ask(visitor: Visitor, request: string): Promise<void> {
  const before = visitor.read.length
  visitor.socket.write(request)
  const path = request.split(' ')[1]!
  if (path === '/poll') return await pause(50)
  await expect.poll(() => visitor.read.slice(before)).toMatch(/^HTTP\/1\.1 (200|101) /)
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const longEnough = (): Promise<void> => pause(IDLE_MIN_MS + 50)
const endsOf = (...some: Visitor[]): (string | undefined)[] => some.map(({ end }) => end)

describe('one more visitor than there may be', () => {
  it('is served at once; the connection that was idle longest is closed for it, in order', async () => {
    await publish(3)
    const first = await visit(get('/1'))
    const second = await visit(get('/2'))
    const silent = await visit()
    await longEnough()
    await ask(first, get('/again'))
    await longEnough()
    const more = await visit(get('/3'))
    expect(site.stats().connections.closedForOthers).toBe(1)
    expect(more.read).toContain('answer to /3')
    await expect.poll(() => second.end).toBe('in order')
    expect(endsOf(first, silent, more)).toEqual([undefined, undefined, undefined])
    expect(second.read).toMatch(/answer to \/2$/)
    await visit(get('/4'))
    await expect.poll(() => silent.end).toBe('in order')
    await ask(first, get('/whole'))
    expect(first.read).toContain('answer to /whole')
  })

  it('is told of', async () => {
    const events: DebugEvent[] = []
    await publish(2, { debug: (event) => events.push(event) })
    for (let come = 0; come < 5; come++) {
      await visit(get('/'))
      await longEnough()
    }
    await expect.poll(() => pressure.reduce((sum, event) => sum + event.closedForOthers, 0)).toBe(3)
    expect(pressure[0]).toMatchObject({ type: 'pressure', closedForOthers: 1, isFull: false })
    expect(pressure.length).toBeLessThanOrEqual(
      1 + Math.ceil((5 * (IDLE_MIN_MS + 200)) / PRESSURE_INTERVAL_MS),
    )
    expect(events.filter(({ type }) => type === 'pressure')).toHaveLength(pressure.length)
    await expect.poll(() => site.stats().connections.open).toBe(2)
    expect(site.stats().connections).toEqual({ open: 2, idle: 2, max: 2, closedForOthers: 3 })
  })

  it('does not cut a long poll, a WebSocket, an open response, or half a body, and waits for them', async () => {
    await publish(4)
    const poll = await visit(get('/poll'))
    const socket = await visit(get('/socket', UPGRADE))
    const events = await visit(get('/events'))
    const upload = await visit()
    upload.socket.write(`POST /poll HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 10\r\n\r\nhalf`)
    await longEnough()
    const waiting = vi.fn()
    const more = visit(get('/more'))
    more.then(waiting)
    await expect.poll(() => pressure.at(-1)?.isFull).toBe(true)
    await pause(FULL_TOLD_AFTER_MS)
    expect(waiting).not.toHaveBeenCalled()
    expect(endsOf(poll, socket, events, upload)).toEqual([undefined, undefined, undefined, undefined])
    expect(site.stats().connections).toEqual({ open: 4, idle: 0, max: 4, closedForOthers: 0 })
    answerPolls()
    expect((await more).read).toContain('answer to /more')
    expect(poll.read).toContain('answer to /poll')
    await expect.poll(() => poll.end).toBe('in order')
    expect(endsOf(socket, events, upload)).toEqual([undefined, undefined, undefined])
  })
})

it('visitors who are idle and do not answer when they are told to go shut nobody out', async () => {
  const MAX = 16
  await publish(MAX)
  for (let come = 0; come < MAX; come++) (await visit()).socket.pause()
  await longEnough()
  for (let come = 0; come < MAX; come++) {
    expect((await visit(get(`/${come}`))).read).toContain(`answer to /${come}`)
  }
  await expect.poll(() => site.stats().connections.open).toBe(MAX)
  expect(site.stats().connections.closedForOthers).toBe(MAX)
})

it('a site that says nothing may have 1,024 of them', async () => {
  await publish(undefined as unknown as number)
  expect(CONNECTIONS_DEFAULT).toBe(1024)
  expect(site.stats().connections).toEqual({ open: 0, idle: 0, max: 1024, closedForOthers: 0 })
})
