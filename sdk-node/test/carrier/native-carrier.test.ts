// The native carrier against a real relay: the pool of ready sessions, its end and its return, refusals, and a lease that two fight for.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { type CarrierEvents, MAINTENANCE_INTERVAL_MS } from '@svc/sdk-core'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { atDepth } from '../../../tools/test-depth.ts'
import { nativeCarrier } from '../../src/carrier/native-carrier.ts'
import { type NodePublishOptions, publish, type Site, type SvcError } from '../../src/index.ts'
import { CONTEST_LOSSES_MAX, DIAL_DEADLINE_MS, SESSION_SILENCE_MAX_MS } from '../../src/limits.ts'
import { localhostLookup } from '../../src/net/localhost-lookup.ts'
import { listening, sha256Of, TEST_TIMEOUT_MS, text, visit } from '../support/exposed.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'

/** Many times what the buffers on the way hold, so that some are under way when the first has come. */
const CONTENT_BYTES: number = atDepth(8, 2) * 1024 * 1024
const DOWNLOADS: number = atDepth(12, 8)

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS, hookTimeout: TEST_TIMEOUT_MS })

let relay: TestRelay
beforeAll(async () => {
  relay = await startTestRelay()
})
afterAll(() => relay.close())

const sites: Site[] = []
afterEach(() => Promise.all(sites.splice(0).map((site) => site.close())))

async function publishNative(options: Partial<NodePublishOptions> = {}): Promise<Site> {
  const site = await publish({
    relay: relay.origin,
    ca: relay.ca,
    name: `n${randomBytes(6).toString('hex')}`,
    identity: Uint8Array.from(randomBytes(32)),
    fetch: () => new Response('hello'),
    carrier: 'native',
    ...options,
  })
  sites.push(site)
  return site
}

/** @returns the number of a site's ready sessions that the relay reports */
async function ready(site: Site): Promise<number | undefined> {
  const { data } = await relay.call('/api/state')
  const { leases } = data! as { leases: { hostname: string; ready: number }[] }
  return leases.find(({ hostname }) => hostname === new URL(site.url).hostname)?.ready
}

describe('the pool', () => {
  it('has two sessions ready, follows demand, and opens the next the moment one is claimed', async () => {
    const finish: (() => void)[] = []
    const site = await publishNative({
      fetch: () => new Promise((resolve) => finish.push(() => resolve(new Response('late')))),
    })
    await expect.poll(() => ready(site)).toBe(2)
    const visits = Array.from({ length: 12 }, () => visit(relay, site.url).then(text))
    await expect.poll(() => finish.length).toBe(12)
    expect(site.stats()).toMatchObject({ openStreams: 12, webSockets: 0 })
    await expect.poll(() => ready(site)).toBeGreaterThan(2)
    for (const answer of finish) answer()
    expect(new Set(await Promise.all(visits))).toEqual(new Set(['late']))
    await expect.poll(() => site.stats().openStreams).toBe(0)
  })

  it('counts what passes, and knows the round trip', async () => {
    const site = await publishNative({ fetch: () => new Response(new Uint8Array(100_000)) })
    await text(await visit(relay, site.url))
    const { bytesIn, bytesOut, rttMs } = site.stats()
    expect(bytesIn).toBeGreaterThan(200)
    expect(bytesOut).toBeGreaterThan(100_000)
    expect(rttMs).toBeGreaterThan(0)
  })

  it('leaves no session behind when the site closes', async () => {
    const site = await publishNative()
    await expect.poll(() => ready(site)).toBe(2)
    await site.close()
    expect(await ready(site)).toBeUndefined()
  })
})

it('a relay that is killed under load is found again, and the same URL lives again: no wrong byte, before and after', async () => {
  const content = randomBytes(CONTENT_BYTES)
  const sha256 = createHash('sha256').update(content).digest('hex')
  const site = await publishNative({ fetch: () => new Response(content) })
  const { url } = site
  const download = async (): Promise<string> => (await sha256Of(await visit(relay, url))).sha256
  const downloads = (): Promise<string>[] => Array.from({ length: DOWNLOADS }, () => download())
  const before = downloads()
  const outcomes = Promise.allSettled(before)
  await Promise.race(before)
  await relay.kill()
  // each either came whole, or broke visibly
  for (const outcome of await outcomes) if (outcome.status === 'fulfilled') expect(outcome.value).toBe(sha256)
  await expect.poll(() => site.state).toBe('reconnecting')
  await relay.start()
  await expect.poll(() => site.state).toBe('online')
  expect(site.url).toBe(url)
  expect(new Set(await Promise.all(downloads()))).toEqual(new Set([sha256]))
})

describe('refusals', () => {
  it('of a banned address end the site', async () => {
    const site = await publishNative()
    const errors: SvcError[] = []
    site.addEventListener('error', ({ error }) => errors.push(error))
    await relay.call('/api/policy/ips', { ip: '127.0.0.1', is_banned: true })
    await expect.poll(() => site.state).toBe('closed')
    expect(errors.map(({ code }) => code)).toContain('ip_banned')
    await relay.call('/api/policy/ips', { ip: '127.0.0.1', is_banned: false })
  })

  it('of an untrusted relay say so', async () => {
    await expect(publishNative({ ca: CERTIFICATE_PEM })).rejects.toMatchObject({ code: 'relay_unreachable' })
  })
})

it('of two with one identity and one name, the one that came first leaves', async () => {
  const shared = { name: 'contested', identity: Uint8Array.from(randomBytes(32)) }
  const first = await publishNative(shared)
  const errors: SvcError[] = []
  first.addEventListener('error', ({ error }) => errors.push(error))
  const second = await publishNative(shared)
  await expect.poll(() => first.state).toBe('closed')
  expect(errors.at(-1)?.code).toBe('lease_replaced')
  expect(errors.filter(({ code }) => code === 'stream_rejected').length).toBeLessThan(CONTEST_LOSSES_MAX)
  await expect.poll(() => second.state).toBe('online')
  expect(await text(await visit(relay, second.url))).toBe('hello')
})

describe('at a relay that speaks literal bytes', () => {
  const CAPABILITY = 'capability.1'
  const requests: string[] = []
  let sessions: TLSSocket[] = []
  let answer: string

  const double = createTlsServer({ cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM }, (socket) => {
    socket.on('error', () => {})
    socket.once('data', (head) => {
      requests.push(String(head))
      socket.write(answer)
      if (answer.startsWith('HTTP/1.1 101')) sessions.push(socket)
      else if (answer) socket.end()
    })
  })
  let port: number
  beforeAll(async () => {
    port = await listening(double)
  })
  afterAll(() => void double.close())

  const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n'

  function refused(status: string, code: string, fields = ''): string {
    const body = JSON.stringify({ ok: false, error: { code, message: 'told to' } })
    return `HTTP/1.1 ${status}\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`
  }

  function open(events: Partial<CarrierEvents> = {}) {
    requests.length = 0
    sessions = []
    return nativeCarrier({ ca: CERTIFICATE_PEM, lookup: localhostLookup })(
      `wss://relay.localhost:${port}/sdk/connect?a=b`,
      { bytesIn: 0, bytesOut: 0 },
      {
        capability: () => CAPABILITY,
        hasRoomFor: () => true,
        serve: async () => {},
        traffic: () => {},
        stale: () => {},
        admits: () => {},
        ended: () => {},
        debug: () => {},
        ...events,
      },
      AbortSignal.timeout(30_000),
    )
  }

  it('asks as the wire says', async () => {
    answer = SWITCHING
    const carrier = await open()
    expect(requests[0]).toBe(
      [
        'GET /sdk/connect?a=b HTTP/1.1',
        `Host: relay.localhost:${port}`,
        'Connection: Upgrade',
        'Upgrade: raw',
        `X-Svc-Reverse-Capability: ${CAPABILITY}`,
        '',
        '',
      ].join('\r\n'),
    )
    carrier.close()
  })

  it("takes markers that come in one piece with the 101, and the visitor's first bytes with them", async () => {
    const served = Promise.withResolvers<[Uint8Array | undefined, Uint8Array | undefined]>()
    answer = `${SWITCHING}\0\0\x02${'b'.repeat(16)}visitor`
    const carrier = await open({
      serve: async ({ binding, stream }) => {
        served.resolve([binding, await stream.read()])
        answer = SWITCHING
      },
    })
    const [binding, first] = await served.promise
    expect([String(Buffer.from(binding!)), String(Buffer.from(first!))]).toEqual(['b'.repeat(16), 'visitor'])
    carrier.close()
  })

  it.each([
    [
      '429 with Retry-After',
      refused('429 Too Many Requests', 'rate_limited', 'Retry-After: 7\r\n'),
      { code: 'rate_limited', retryAfterMs: 7000 },
    ],
    ['ip_banned', refused('403 Forbidden', 'ip_banned'), { code: 'ip_banned' }],
    ['an unknown lease', refused('404 Not Found', 'lease_not_found'), { code: 'stream_rejected' }],
    ['a gateway', 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno', { code: 'relay_unreachable' }],
    ['another page', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi', { code: 'unexpected_answer' }],
    [
      'an endless refusal',
      `HTTP/1.1 403 Forbidden\r\n\r\n${'x'.repeat(20_000)}`,
      { code: 'unexpected_answer' },
    ],
    ['what is not HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', { code: 'relay_unreachable' }],
  ])('refused with %s it does not open', async (_, refusal, error) => {
    answer = refusal
    await expect(open()).rejects.toMatchObject(error)
  })

  it('that says nothing is given up in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      answer = ''
      const opened = open().catch((error) => error)
      await until(() => requests.length === 2)
      await vi.advanceTimersByTimeAsync(DIAL_DEADLINE_MS)
      expect(await opened).toMatchObject({ code: 'relay_unreachable' })
    } finally {
      vi.useRealTimers()
    }
  })

  it('resumes TLS, which spares both sides the certificate', async () => {
    answer = SWITCHING
    const carrier = await open()
    await expect.poll(() => sessions.length).toBe(2)
    sessions[0]!.destroy()
    await expect.poll(() => sessions[2]?.isSessionReused()).toBe(true)
    expect(sessions[1]!.isSessionReused()).toBe(false)
    carrier.close()
  })

  it('a full queue, with sessions ready, is left as it is', async () => {
    answer = SWITCHING
    const ended = vi.fn()
    const carrier = await open({ ended })
    await expect.poll(() => carrier.stats.readyStreams).toBe(2)
    answer = refused('429 Too Many Requests', 'rate_limited', 'Retry-After: 1\r\n')
    sessions[0]!.destroy()
    await expect.poll(() => requests.length).toBe(3)
    expect(ended).not.toHaveBeenCalled()
    expect(carrier.stats.readyStreams).toBe(1)
    carrier.close()
  })

  it('gives none of its sessions up after a quiet minute: the relay hands out the oldest first', async () => {
    answer = SWITCHING
    const served = vi.fn(async () => {})
    const carrier = await open({ serve: served })
    const RAW_MARKER = Buffer.of(1)
    // all that are ready at once, until visitors have come faster than sessions were replaced
    const rush = () => {
      const { readyStreams } = carrier.stats
      if (readyStreams < 8) for (const session of sessions.splice(0)) session.write(RAW_MARKER)
      return readyStreams
    }
    await expect.poll(rush).toBe(8)
    await expect.poll(() => sessions.length).toBe(8)
    await new Promise((resolve) => setTimeout(resolve, MAINTENANCE_INTERVAL_MS))
    const before = served.mock.calls.length
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000)
    for (const session of sessions) session.write(Buffer.of(0))
    await new Promise((resolve) => setTimeout(resolve, 100))
    for (const session of sessions.slice(0, 6)) session.write(RAW_MARKER)
    await expect.poll(() => served.mock.calls.length - before).toBe(6)
    vi.restoreAllMocks()
    carrier.close()
  })

  it('a keepalive in time keeps a session; silence ends it, and with the last one the relay counts as gone', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      answer = SWITCHING
      const ended = vi.fn()
      const traffic = vi.fn()
      const carrier = await open({ ended, traffic })
      await until(() => carrier.stats.readyStreams === 2)
      await vi.advanceTimersByTimeAsync(SESSION_SILENCE_MAX_MS - 1)
      for (const session of sessions) session.write(Buffer.of(0))
      await until(() => traffic.mock.calls.length === 2)
      await vi.advanceTimersByTimeAsync(SESSION_SILENCE_MAX_MS - 1)
      expect(ended).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(1)
      await until(() => ended.mock.calls.length === 1)
      expect(ended.mock.calls[0]![0]).toMatchObject({ code: 'relay_unreachable' })
    } finally {
      vi.useRealTimers()
    }
  })

  it('a marker that is none ends the session, not the carrier', async () => {
    answer = SWITCHING
    const ended = vi.fn()
    const carrier = await open({ ended })
    await expect.poll(() => carrier.stats.readyStreams).toBe(2)
    const gone = once(sessions[0]!, 'error')
    sessions[0]!.write(Buffer.of(0x09))
    expect((await gone)[0]).toMatchObject({ code: 'ECONNRESET' })
    await expect.poll(() => requests.length).toBe(3)
    expect(ended).not.toHaveBeenCalled()
    carrier.close()
  })
})

/** Waits where timers are not real. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}
