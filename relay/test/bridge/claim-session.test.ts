// Tests how many sessions of a site one visitor may use up who gets no answer, or who disconnects.

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { MARKER, STREAM_ANSWER } from '@svc/protocol'
import { describe, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { UPGRADE_HEADERS } from '../support/api-socket.ts'
import { openCarrier } from '../support/carrier.ts'
import { readAll, startTestRelay } from '../support/relay.ts'
import { nativeSession, type TestSession } from '../support/session.ts'

const relay = useStarted(startTestRelay)

/** Makes sessions of one lease: a browser's are streams of one WebSocket, a native client's connections of their own. */
type Opener = (capability: string) => Promise<() => Promise<TestSession>>

const OPENERS: [string, Opener][] = [
  [
    'browser',
    async (capability) => {
      const { open } = await openCarrier(relay, capability)
      return async () => {
        const { stream, read } = await open(capability)
        if ((await read(1))[0] !== STREAM_ANSWER.accepted) throw new Error('rejected')
        return {
          read,
          write: (bytes) => stream.write(bytes),
          end: () => stream.end(),
          abort: () => stream.abort(),
          closed: stream.closed,
        }
      }
    },
  ],
  ['native', async (capability) => () => nativeSession(relay, capability, UPGRADE_HEADERS)],
]

const INTERNAL_ERROR = Buffer.of(21, 3, 3, 0, 2, 2, 80)

/** How many sessions of the lease wait, as the relay tells. */
async function readyOf(name: string): Promise<number | undefined> {
  const { data } = (await relay.call('GET', '/api/state')).json as unknown as {
    data: { leases: { name: string; ready: number }[] }
  }
  return data.leases.find((lease) => lease.name === name)?.ready
}

/** @returns what a visitor from that address gets for its ClientHello */
async function visit(hello: Buffer, localAddress: string): Promise<Buffer> {
  const visitor = connect({ host: '127.0.0.1', port: relay.port, localAddress })
  visitor.on('error', () => {})
  visitor.write(hello)
  return await readAll(visitor)
}

/** A site that keeps this many sessions ready, and leaves each one to `serve` when it is activated. */
class Site {
  activations = 0
  refused = 0
  readonly #open: () => Promise<TestSession>
  readonly #serve: (session: TestSession) => void
  readonly #sessions = new Set<TestSession>()
  #isClosed = false

  constructor(open: () => Promise<TestSession>, serve: (session: TestSession) => void) {
    this.#open = open
    this.#serve = serve
  }

  async keepReady(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.#openOne()
  }

  close(): void {
    this.#isClosed = true
    for (const session of this.#sessions) session.abort()
  }

  async #openOne(): Promise<void> {
    let session: TestSession
    try {
      session = await this.#open()
    } catch {
      this.refused += 1
      await sleep(100)
      if (!this.#isClosed) void this.#openOne()
      return
    }
    if (this.#isClosed) return session.abort()
    this.#sessions.add(session)
    // A session that the relay resets has failed to read.
    this.#wait(session).catch(() => {})
  }

  async #wait(session: TestSession): Promise<void> {
    let marker = await session.read(1)
    while (marker[0] === MARKER.keepalive) marker = await session.read(1)
    if (marker[0] !== MARKER.tls) return
    this.activations += 1
    this.#serve(session)
    if (!this.#isClosed) await this.#openOne()
  }
}

describe.each(OPENERS)('a %s site', (carrier, opener) => {
  async function publish(what: string, serve: (session: TestSession) => void) {
    const name = `${carrier}-${what}`
    const { hostname, reverse_endpoint } = await relay.register(name)
    const site = new Site(await opener(reverse_endpoint.capability), serve)
    return { name, hostname, site }
  }

  test('that closes its sessions without an answer loses three for a visitor, who gets an alert', async () => {
    const { name, hostname, site } = await publish('breaks', (session) => void session.end())
    await site.keepReady(8)
    await expect.poll(() => readyOf(name)).toBe(8)
    const visitor = await relay.tcp()
    visitor.write(await captureHello(hostname))
    expect(await readAll(visitor)).toEqual(INTERNAL_ERROR)
    expect(site.activations).toBe(3)
    site.close()
  })

  test('that refills what a visitor broke does not lose that as well', async () => {
    const { name, hostname, site } = await publish('refills', (session) => void session.end())
    await site.keepReady(1)
    await expect.poll(() => readyOf(name)).toBe(1)
    const visitor = await relay.tcp()
    visitor.write(await captureHello(hostname))
    expect(await readAll(visitor)).toEqual(INTERNAL_ERROR)
    expect(site.activations).toBe(1)
    site.close()
  })

  test('whose sessions break again and again gets 60 new ones at once, and 2 a second after that', async () => {
    const { hostname, site } = await publish('again', (session) => void session.end())
    await site.keepReady(8)
    const hello = await captureHello(hostname)
    const from = performance.now()
    // One source alone may cause a quarter of that.
    for (let i = 0; site.refused === 0 && site.activations < 200; i++)
      await visit(hello, `127.0.0.${2 + (i % 8)}`)
    const seconds = (performance.now() - from) / 1000
    expect(site.refused).toBeGreaterThan(0)
    expect(site.activations).toBeGreaterThanOrEqual(60 - 8)
    expect(site.activations).toBeLessThanOrEqual(60 + 8 + 2 * seconds)
    site.close()
  })

  test('loses 15 sessions to one source, which gets no more then, and others do', async () => {
    const { hostname, site } = await publish('source', (session) => void session.end())
    await site.keepReady(8)
    const hello = await captureHello(hostname)
    const from = performance.now()
    for (let i = 0; i < 20; i++) expect(await visit(hello, '127.0.0.2')).toEqual(INTERNAL_ERROR)
    const more = (performance.now() - from) / 2_000
    expect(site.activations).toBeGreaterThanOrEqual(15)
    // A visitor who was let in may lose three.
    expect(site.activations).toBeLessThanOrEqual(15 + 2 + more)
    const before = site.activations
    await visit(hello, '127.0.0.3')
    expect(site.activations).toBe(before + 3)
    site.close()
  })

  test('loses one session at most for each visitor who leaves before the first answer', async () => {
    const { name, hostname, site } = await publish('leavers', () => {})
    await site.keepReady(8)
    await expect.poll(() => readyOf(name)).toBe(8)
    const hello = await captureHello(hostname)
    for (let i = 0; i < 20; i++) {
      const visitor = await relay.tcp()
      visitor.write(hello)
      // Half of them leave when the relay has surely read the hello, the others as soon as they have sent it.
      if (i % 2 === 0) await sleep(20)
      if (i % 4 < 2) visitor.end()
      else visitor.resetAndDestroy()
      visitor.resume()
      await sleep(20)
    }
    expect(site.activations).toBeLessThanOrEqual(20)
    expect(site.activations).toBeGreaterThan(0)
    await expect.poll(() => readyOf(name)).toBe(8)
    site.close()
  })
})
