// The datagram tunnel where the QUIC library has no native binary: its WASM client, in a thread that may die.

import { randomBytes } from 'node:crypto'
import { publishOn } from '@svc/sdk-core'
import { afterEach, describe, it as every, expect, vi } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { WAIT_TIMEOUT_MS } from '../../../tools/test-timeouts.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { datagramCarrier } from '../../src/datagram/datagram-carrier.ts'
import { InFlightCounter } from '../../src/datagram/in-flight-counter.ts'
import { dialQuic } from '../../src/datagram/quic.ts'
import { type DialQuic, dialInWorker } from '../../src/datagram/quic-in-worker.ts'
import type { ThreadCode } from '../../src/installation.ts'
import { nodePlatform } from '../../src/platform.ts'
import { TCP_PORTS, TCP_SETTINGS, withTunnel } from '../support/exposed.ts'
import { freeRange, startTestRelay } from '../support/relay.ts'
import { echo, UdpVisitor, udpService } from '../support/udp.ts'

const it = wholeOnly(every, 'variant')

// In this thread alone: the other one loads the library itself.
vi.mock('@currentspace/http3', () => ({
  connectQuic: () => {
    throw new Error('Cannot find native binding')
  },
}))

const relay = useStarted(async () =>
  startTestRelay({ ...TCP_SETTINGS(await freeRange(TCP_PORTS)), UDP_ENABLED: 'true' }),
)

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

const PULSE = { everyMs: 200, deadlineMs: 10_000 }

interface PublishedOptions {
  dial?: DialQuic
  answer?: typeof echo
  onError?: (message: string) => void
}

const published = (options: PublishedOptions = {}) => withTunnel(() => publishedOnce(options))

async function publishedOnce(options: PublishedOptions) {
  const { ca } = relay
  const service = await udpService(options.answer ?? echo)
  open.push(service.close)
  const target = { host: '127.0.0.1', port: service.port }
  const identity = Uint8Array.from(randomBytes(32))
  const platform = {
    ...nodePlatform({ ca, identity, carrier: 'native' }),
    openDatagrams: datagramCarrier(target, { ca, onError: () => {}, pulse: PULSE, dial: options.dial }),
  }
  const name = `t${randomBytes(6).toString('hex')}`
  const site = await publishOn(platform, {
    relay: relay.origin,
    name,
    identity,
    fetch: () => new Response(),
    onSite: (made) => made.addEventListener('error', ({ error }) => options.onError?.(error.message)),
  })
  open.push(() => site.close())
  const visitor = new UdpVisitor(Number(site.udpAddress!.split(':').at(-1)))
  open.push(() => visitor.socket.close())
  return { site, visitor }
}

const THREAD: string = new URL('../../src/datagram/quic-worker.ts', import.meta.url).href
const threadOf = (code: string): ThreadCode => ({
  script: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
  options: {},
})

const IGNORED = { datagram: () => {}, dropped: () => {}, closed: () => {} }
const targetOf = (options: object = {}) => ({
  address: '127.0.0.1',
  port: relay.port,
  servername: 'relay.localhost',
  ca: relay.ca,
  ...options,
})

describe('without a native binary', () => {
  it('the WASM client carries datagrams and heartbeats', async () => {
    await expect(dialQuic(targetOf(), IGNORED)).rejects.toMatchObject({ code: 'quic_unavailable' })
    const { site, visitor } = await published()
    expect(String(await visitor.ask('hello'))).toBe('hello')
    const largest = Buffer.alloc(1149, 0xa5)
    expect(await visitor.ask(largest)).toEqual(largest)
    await new Promise((resolve) => setTimeout(resolve, 3 * PULSE.everyMs))
    expect(site.datagramStats()).toMatchObject({ tunnels: 1, dropped: {} })
  })

  it('what is larger than 1150 bytes is dropped: that client does not know whether it passes', async () => {
    const { site, visitor } = await published({ answer: (_, send) => send(Buffer.alloc(1150)) })
    visitor.send('more')
    await vi.waitUntil(() => site.datagramStats()!.dropped.too_large)
    expect(visitor.got).toEqual([])
  })

  it('a fault in that client costs the tunnel, and another one follows', async () => {
    const dying = threadOf(`import '${THREAD}'\nsetTimeout(() => { throw new Error('unreachable') }, 1_000)`)
    const ended = 'the datagram tunnel ended: the thread of the QUIC client ended'
    const failures: string[] = []
    const dial: DialQuic = (...args) => dialInWorker(...args, failures.includes(ended) ? undefined : dying)
    const { site, visitor } = await published({ dial, onError: (message) => failures.push(message) })
    await vi.waitUntil(() => failures.includes(ended) && site.datagramStats()!.tunnels > 1)
    expect(String(await visitor.ask('after'))).toBe('after')
  })
})

describe('dialInThread', () => {
  it('fails as a native dial does, at a relay that the CA does not vouch for', async () => {
    const dialled = dialInWorker(
      targetOf({ ca: CERTIFICATE_PEM }),
      IGNORED,
      AbortSignal.timeout(WAIT_TIMEOUT_MS),
    )
    await expect(dialled).rejects.toMatchObject({ code: 'tunnel_unreachable' })
  })

  it('says so where the thread cannot run', async () => {
    for (const code of ['throw new Error()', 'process.exit()', 'delete globalThis.WebAssembly']) {
      const script = threadOf(code.startsWith('delete') ? `${code}\nawait import('${THREAD}')` : code)
      const dialled = dialInWorker(targetOf(), IGNORED, AbortSignal.timeout(WAIT_TIMEOUT_MS), script)
      await expect(dialled).rejects.toMatchObject({ code: 'quic_unavailable' })
    }
  })

  it('ends a thread that says nothing with the signal', async () => {
    const silent = threadOf('setInterval(() => {}, 1000)')
    for (const signal of [AbortSignal.timeout(100), AbortSignal.abort()])
      await expect(dialInWorker(targetOf(), IGNORED, signal, silent)).rejects.toMatchObject({
        code: 'aborted',
      })
  })

  it('drops what a thread does not take: 4096 datagrams wait, and no more', async () => {
    const deaf = threadOf(
      "import { parentPort } from 'node:worker_threads'\nparentPort.postMessage({ type: 'ready' })\nfor (;;);",
    )
    const connection = await dialInWorker(targetOf(), IGNORED, AbortSignal.timeout(WAIT_TIMEOUT_MS), deaf)
    const taken = Array.from({ length: 5000 }, () => connection.send(new Uint8Array(1)))
    expect(taken.filter(Boolean).length).toBe(4096)
    connection.close()
    expect(connection.send(new Uint8Array(1))).toBe(false)
  })
})

describe('Transit', () => {
  it('counts in both threads what is on its way, and tells what was dropped', () => {
    const here = new InFlightCounter()
    const there = new InFlightCounter(here.shared)
    for (let count = 0; count < 4096; count += 1) expect(here.tryAdd()).toBe(true)
    expect([here.tryAdd(), here.tryAdd()]).toEqual([false, false])
    expect(there.remove()).toBe(2)
    expect(there.remove()).toBe(0)
    expect([here.tryAdd(), here.tryAdd(), here.tryAdd()]).toEqual([true, true, false])
  })
})
