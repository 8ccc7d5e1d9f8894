// The native carrier at a relay that speaks literal bytes: requests, markers, refusals, silence, and what yamux says.

import { once } from 'node:events'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { Extension } from '@svc/protocol'
import { type CarrierEvents, MAINTENANCE_INTERVAL_MS, type OpenCarrier } from '@svc/sdk-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { PING_DEADLINE_MS, SILENCE_MAX_MS } from '../../../sdk-core/src/carrier/watchdog.ts'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { nativeCarrier } from '../../src/carrier/native-carrier.ts'
import { SESSION_SILENCE_MAX_MS } from '../../src/carrier/session-carrier.ts'
import { DIAL_DEADLINE_MS } from '../../src/net/deadlines.ts'
import { localhostLookup } from '../../src/net/localhost-lookup.ts'
import { listening } from '../support/exposed.ts'

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

const native = (): OpenCarrier =>
  nativeCarrier(() => ({ ca: CERTIFICATE_PEM, lookup: localhostLookup }), true)

/** @param extensions those that the relay lists */
function open(
  events: Partial<CarrierEvents> = {},
  extensions: readonly Extension[] = [],
  openCarrier: OpenCarrier = native(),
) {
  requests.length = 0
  sessions = []
  return openCarrier(
    {
      url: `wss://relay.localhost:${port}/sdk/connect?a=b`,
      extensions: new Set(extensions),
      hostname: '',
      canonicalHostname: 'demo.relay.localhost',
      isGateway: false,
    },
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

describe('where the relay does not list native_yamux', () => {
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

  it('an invalid marker ends the session, not the carrier', async () => {
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
describe('where it does', () => {
  const SWITCHING_TO_YAMUX =
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: yamux\r\n\r\n'
  /** Frames of yamux: version, type, flags, stream id, length. */
  const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex')
  const hex32 = (number: number): string => number.toString(16).padStart(8, '0')
  const goAway = (code: number): Buffer => hex(`00 03 0000 00000000 ${hex32(code)}`)
  const data = (bytes: Buffer): Buffer =>
    Buffer.concat([hex(`00 00 0000 00000001 ${hex32(bytes.length)}`), bytes])
  const OPENED = hex('00 01 0001 00000001 00000000')
  const OFFERED = data(Buffer.concat([Buffer.of(0, CAPABILITY.length), Buffer.from(CAPABILITY)]))
  const ACCEPTED = Buffer.concat([hex('00 01 0002 00000001 00000000'), data(Buffer.of(0))])

  const openYamux = (events: Partial<CarrierEvents> = {}, openCarrier?: OpenCarrier) =>
    open(events, ['native_yamux'], openCarrier)

  /** Accepts the first stream of the only connection. @returns what the client sent before the answer */
  async function accept(): Promise<Buffer> {
    await until(() => sessions.length === 1)
    const session = sessions[0]!
    let received = Buffer.alloc(0)
    await new Promise<void>((resolve) => {
      session.on('data', (bytes: Buffer) => {
        received = Buffer.concat([received, bytes])
        if (received.includes(OFFERED)) resolve()
      })
    })
    session.write(ACCEPTED)
    return received
  }

  it('asks for yamux, opens a stream and shows the capability on it', async () => {
    answer = SWITCHING_TO_YAMUX
    const opening = openYamux()
    const received = await accept()
    const carrier = await opening
    expect(requests[0]).toContain(
      '\r\nConnection: Upgrade\r\nUpgrade: yamux\r\nX-Svc-Reverse-Capability: capability.1\r\n',
    )
    expect(received.includes(OPENED)).toBe(true)
    expect(carrier.stats).toMatchObject({ readyStreams: 1, webSockets: 0 })
    carrier.close()
  })

  it("serves a visitor on a stream: the binding, then the visitor's bytes both ways", async () => {
    const served = Promise.withResolvers<string[]>()
    answer = SWITCHING_TO_YAMUX
    const opening = openYamux({
      serve: async ({ binding, stream }) => {
        const first = await stream.read()
        await stream.write(Buffer.from('answer'))
        served.resolve([binding!, first!].map((bytes) => String(Buffer.from(bytes))))
      },
    })
    await accept()
    const carrier = await opening
    const answered = new Promise<void>((resolve) => {
      sessions[0]!.on('data', (bytes: Buffer) => {
        if (bytes.includes('answer')) resolve()
      })
    })
    sessions[0]!.write(data(Buffer.from(`\x02${'b'.repeat(16)}visitor`)))
    expect(await served.promise).toEqual(['b'.repeat(16), 'visitor'])
    await answered
    carrier.close()
  })

  it.each([
    ['lease_replaced', 'another process has the lease', goAway(4002)],
    ['lease_ended', 'the lease is over', goAway(4001)],
    ['relay_unreachable', 'its process goes away', goAway(1012)],
  ])('ends with %s when the relay says that %s', async (code, _why, frame) => {
    answer = SWITCHING_TO_YAMUX
    const ended = vi.fn()
    const opening = openYamux({ ended })
    await accept()
    await opening
    sessions[0]!.write(frame)
    await expect.poll(() => ended.mock.calls.length).toBe(1)
    expect(ended.mock.calls[0]![0]).toMatchObject({ code })
  })

  it.each([
    [
      '429 with Retry-After',
      refused('429 Too Many Requests', 'rate_limited', 'Retry-After: 7\r\n'),
      { code: 'rate_limited', retryAfterMs: 7000 },
    ],
    ['ip_banned', refused('403 Forbidden', 'ip_banned'), { code: 'ip_banned' }],
    ['an unknown lease', refused('404 Not Found', 'lease_not_found'), { code: 'stream_rejected' }],
    ['another protocol', SWITCHING, { code: 'unexpected_answer' }],
  ])('answered with %s it does not open', async (_, refusal, error) => {
    answer = refusal
    await expect(openYamux()).rejects.toMatchObject(error)
  })

  it('gives a relay up that falls silent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    try {
      answer = SWITCHING_TO_YAMUX
      const ended = vi.fn()
      const opening = openYamux({ ended, hasRoomFor: (visitors) => visitors === 1 })
      await accept()
      await opening
      await vi.advanceTimersByTimeAsync(SILENCE_MAX_MS - 1)
      expect(ended).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(1 + PING_DEADLINE_MS)
      await until(() => ended.mock.calls.length === 1)
      expect(ended.mock.calls[0]![0]).toMatchObject({ code: 'relay_unreachable' })
    } finally {
      vi.useRealTimers()
    }
  })

  it('resumes TLS when it connects again', async () => {
    answer = SWITCHING_TO_YAMUX
    const again = native()
    const reused: boolean[] = []
    for (let time = 1; time <= 2; time++) {
      const opening = openYamux({}, again)
      await accept()
      reused.push(sessions[0]!.isSessionReused())
      const carrier = await opening
      carrier.close()
    }
    expect(reused).toEqual([false, true])
  })
})

/** Waits where timers are not real. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}
