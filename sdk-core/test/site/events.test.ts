// What a site tells of itself, how it leaves, and that it waits when the relay asks it to.

import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WAIT_TIMEOUT_MS } from '../../../tools/test-timeouts.ts'
import { publishOn } from '../../src/publish.ts'
import type { DebugEvent } from '../../src/site/debug-event.ts'
import type { PublishOptions } from '../../src/site/options.ts'
import { CLOSE_GRACE_MS } from '../../src/site/relay-carriers.ts'
import type { Site } from '../../src/site/site.ts'
import { failing, RelayDouble, testPlatform } from '../support/relay-double.ts'

let relay: RelayDouble
let site: Site | undefined

beforeEach(async () => {
  relay = await RelayDouble.start()
})
afterEach(async () => {
  await site?.close()
  await relay.crash()
})

async function publish(options: Partial<PublishOptions> = {}): Promise<Site> {
  site = await publishOn(testPlatform(), {
    relay: relay.url,
    name: 'demo',
    fetch: () => new Response('hello'),
    ...options,
  })
  return site
}

async function visit(path = '/'): Promise<TLSSocket> {
  const socket = await relay.visit('demo.relay.localhost')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: demo.relay.localhost\r\n\r\n`)
  return socket
}

async function readUntil(socket: TLSSocket, text: string): Promise<string> {
  let read = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    read += chunk
    if (read.includes(text)) break
  }
  return read
}

async function readAll(socket: TLSSocket): Promise<string> {
  let read = ''
  for await (const chunk of socket) read += chunk
  return read
}

describe('stats', () => {
  it('count streams, bytes, WebSockets and reconnects', async () => {
    const { stats, close } = await publish().then((site) => ({
      stats: () => site.stats(),
      close: () => site.close(),
    }))
    await vi.waitFor(() => expect(stats().readyStreams).toBe(2))
    expect(stats()).toMatchObject({ openStreams: 0, webSockets: 1, reconnects: 0 })
    await vi.waitFor(() => expect(stats().rttMs).toBeGreaterThan(0))
    const { bytesIn, bytesOut } = stats()
    const socket = await visit()
    await readUntil(socket, 'hello')
    expect(stats().openStreams).toBe(1)
    expect(stats().bytesIn).toBeGreaterThan(bytesIn)
    expect(stats().bytesOut - bytesOut).toBeGreaterThan('hello'.length)
    socket.destroy()
    await vi.waitFor(() => expect(stats().openStreams).toBe(0))
    relay.endLease(1012)
    await vi.waitFor(() => expect(stats().reconnects).toBe(1))
    await close()
    expect(stats()).toMatchObject({ openStreams: 0, readyStreams: 0, webSockets: 0, rttMs: undefined })
  })
})

describe('debug', () => {
  it('is told what happens, in order, and never a token', async () => {
    const events: DebugEvent[] = []
    const site = await publish({ debug: (event) => events.push(event) })
    const socket = await visit()
    await readUntil(socket, 'hello')
    socket.destroy()
    await vi.waitFor(() => expect(site.stats().openStreams).toBe(0))
    relay.endLease(4001)
    await vi.waitFor(() => expect(site.stats().reconnects).toBe(1))
    await site.close()
    expect(events).toEqual([
      { type: 'lease', change: 'registered' },
      { type: 'websocket', change: 'opened', count: 1 },
      { type: 'state', state: 'online' },
      { type: 'visitor', change: 'came', count: 1 },
      { type: 'visitor', change: 'left', count: 0 },
      { type: 'websocket', change: 'closed', count: 0, code: 'lease_ended' },
      { type: 'state', state: 'reconnecting' },
      { type: 'error', code: 'lease_ended', message: expect.any(String) },
      { type: 'retry', inMs: expect.any(Number) },
      { type: 'lease', change: 'registered' },
      { type: 'websocket', change: 'opened', count: 1 },
      { type: 'state', state: 'online' },
      { type: 'state', state: 'closed' },
      { type: 'lease', change: 'released' },
    ])
    expect(JSON.stringify(events)).not.toMatch(/access\.|capability\./)
  })

  it('cannot break the site by throwing', async () => {
    const failures: unknown[] = []
    const keep = (error: unknown): unknown => failures.push(error)
    process.on('uncaughtException', keep)
    const listeners = process.listeners('uncaughtException').filter((listener) => listener !== keep)
    for (const listener of listeners) process.off('uncaughtException', listener)
    let broken = true
    try {
      const site = await publish({
        debug: () => {
          if (broken) throw new Error('oops')
        },
      })
      expect(site.state).toBe('online')
      expect(await readUntil(await visit(), 'hello')).toContain('hello')
      await vi.waitFor(() => expect(failures.length).toBeGreaterThan(2))
    } finally {
      broken = false
      process.off('uncaughtException', keep)
      for (const listener of listeners) process.on('uncaughtException', listener)
    }
  })

  it('has to be a function', async () => {
    await expect(publish({ debug: 'yes' as never })).rejects.toMatchObject({ code: 'invalid_option' })
  })
})

describe('close', () => {
  it('lets the responses that are on finish, and ends who only waits', async () => {
    const slow = Promise.withResolvers<Response>()
    const handler = vi.fn((request: Request) =>
      request.url.endsWith('/slow') ? slow.promise : new Response('quick'),
    )
    const site = await publish({ fetch: handler })
    const idle = await visit('/')
    await readUntil(idle, 'quick')
    const waiting = await visit('/slow')
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(2))
    const closing = site.close()
    expect(site.state).toBe('closed')
    expect(await readAll(idle)).toBe('')
    expect(relay.count('/sdk/unregister')).toBe(0)
    slow.resolve(new Response('at last'))
    expect(await readAll(waiting)).toMatch(/connection: close\r\n.*at last/s)
    await closing
    expect(relay.count('/sdk/unregister')).toBe(1)
  })

  it('waits no longer than its grace', async () => {
    const handler = vi.fn(() => new Promise<Response>(() => {}))
    const site = await publish({ fetch: handler })
    const stuck = await visit()
    stuck.on('error', () => {}).resume()
    await vi.waitFor(() => expect(handler).toHaveBeenCalled())
    const from = Date.now()
    await site.close()
    expect(Date.now() - from).toBeGreaterThanOrEqual(CLOSE_GRACE_MS - 50)
    expect(Date.now() - from).toBeLessThan(CLOSE_GRACE_MS + WAIT_TIMEOUT_MS)
    expect(relay.count('/sdk/unregister')).toBe(1)
  })
})

describe('Retry-After', () => {
  it('of a 429 is waited for, also when the page is looked at meanwhile', async () => {
    const site = await publish()
    const retries: number[] = []
    site.addEventListener('error', ({ error }) => retries.push(error.retryAfterMs ?? 0))
    relay.overrides['/sdk/register'] = failing(429, 'rate_limited', { 'Retry-After': '2' })
    relay.endLease(4001)
    await vi.waitFor(() => expect(retries).toContain(2_000))
    const attempts = relay.count('/sdk/register')
    const from = Date.now()
    relay.overrides = {}
    ;(site as unknown as { wake(): void }).wake()
    await vi.waitFor(() => expect(site.state).toBe('online'))
    expect(Date.now() - from).toBeGreaterThan(1_800)
    expect(relay.count('/sdk/register')).toBe(attempts + 1)
  })

  it.each(['/sdk/register/challenge', '/sdk/register'])(
    'of a 429 of %s is waited for by publish',
    async (path) => {
      const events: DebugEvent[] = []
      relay.overrides[path] = failing(429, 'rate_limited', { 'Retry-After': '1' })
      const publishing = publish({ debug: (event) => events.push(event) })
      await vi.waitFor(() => expect(relay.count(path)).toBe(1))
      relay.overrides = {}
      expect((await publishing).state).toBe('online')
      expect(events.slice(0, 3)).toEqual([
        {
          type: 'state',
          state: 'waiting',
          waiting: { reason: 'rate_limited', until: expect.any(Number) },
        },
        { type: 'error', code: 'rate_limited', message: 'told to' },
        { type: 'retry', inMs: 1_000 },
      ])
      expect([relay.count('/sdk/register/challenge'), relay.count('/sdk/register')]).toEqual(
        path === '/sdk/register' ? [1, 2] : [2, 1],
      )
    },
  )

  it('ends with the signal of publish, too', async () => {
    relay.overrides['/sdk/register'] = failing(429, 'rate_limited', { 'Retry-After': '300' })
    const controller = new AbortController()
    const publishing = publish({ signal: controller.signal })
    await vi.waitFor(() => expect(relay.count('/sdk/register')).toBe(1))
    controller.abort()
    await expect(publishing).rejects.toMatchObject({ code: 'aborted' })
  })
})
