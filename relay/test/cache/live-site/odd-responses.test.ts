// Responses of sites that no server library would write: each costs its own visitor alone, over both versions of HTTP.

import { once } from 'node:events'
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'
import { afterAll, afterEach, beforeAll, describe, test as every, expect } from 'vitest'
import { curl } from '../../../../tools/programs/curl.ts'
import { atDepth, wholeOnly } from '../../../../tools/test-depth.ts'
import { INTERIM_RESPONSES_MAX } from '../../../src/core/outbound/interim-responses.ts'
import { LIVE_DEADLINES } from '../../../src/features/static-cache/live-site/limits.ts'
import type { HandMadeSite } from '../../support/live-sites.ts'
import { askSite, closeOf, http2To } from '../../support/live-visitor.ts'
import { useLiveRelay } from '../../support/use-live-relay.ts'

const test = wholeOnly(every, 'depth')

/** Short, for responses that lack their end. */
const DEADLINE_MS = 1_000
const VISITOR_PATIENCE_MS = 60_000

/** The faults that would have ended a relay. */
const fatal: unknown[] = []
const onFatal = (error: unknown): void => void fatal.push(error)
beforeAll(() => void process.on('uncaughtException', onFatal).on('unhandledRejection', onFatal))
// Vitest calls these after those of the relay, which come later here.
afterEach(() => expect(fatal).toEqual([]))
afterAll(() => void process.off('uncaughtException', onFatal).off('unhandledRejection', onFatal))
const live = useLiveRelay()
/** Has the short deadline. It is not asked for responses that are whole, as a machine with other work may be slower. */
const impatient = useLiveRelay({
  deadlines: { ...LIVE_DEADLINES, responseMs: DEADLINE_MS, stalledMs: DEADLINE_MS },
})

/** @param answer bytes for the path of a request, in Latin-1; undefined: the site says that it is fine */
function open(answer: (path: string) => string | undefined, at = live): Promise<HandMadeSite> {
  return at.open((connection) => {
    connection.on('data', (chunk: Buffer) => {
      const path = /^\w+ (\S+) HTTP/.exec(chunk.toString('latin1'))?.[1]
      if (path === undefined) return
      const odd = answer(path)
      if (odd === undefined) connection.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine')
      else connection.end(Buffer.from(odd, 'latin1'))
    })
  })
}

/** The outcome of a request over HTTP/2. */
interface Http2Answer {
  headers: IncomingHttpHeaders
  text: string
}

/** Rejects when the stream breaks off. */
async function ask2(visitor: ClientHttp2Session, path: string, method = 'GET'): Promise<Http2Answer> {
  const stream = visitor.request({ ':path': path, ':method': method })
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  let text = ''
  for await (const chunk of stream) text += chunk
  return { headers, text }
}

describe('fields of a connection that the site sends', () => {
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n'

  test('curl over HTTP/2 gets the response without HTTP2-Settings', async () => {
    const site = await open(() => 'HTTP/1.1 200 OK\r\nHTTP2-Settings: x\r\nContent-Length: 2\r\n\r\nok')
    const text = await curl(live.relay.caFile, '--http2', '--include', `${site.url}/x.y`)
    expect(String(text)).toMatch(/^HTTP\/2 200[\s\S]*ok$/)
    expect(String(text)).not.toMatch(/http2-settings/i)
  })

  test.each(['HTTP2-Settings', 'Connection', 'TE', 'Upgrade', 'Keep-Alive', 'Proxy-Connection', 'X-Sum'])(
    'the trailer %s',
    async (name) => {
      const site = await open((path) =>
        path === '/next' ? undefined : `${chunked}\r\n2\r\nok\r\n0\r\n${name}: x\r\n\r\n`,
      )
      expect((await askSite(live.relay, site, '/')).text).toBe('ok')
      const visitor = http2To(live.relay, site)
      const stream = visitor.request({ ':path': '/' })
      const trailers: IncomingHttpHeaders[] = []
      stream.on('trailers', (fields) => trailers.push(fields)).resume()
      await once(stream, 'close')
      expect(trailers.map((fields) => Object.keys(fields))).toEqual(name === 'X-Sum' ? [['x-sum']] : [])
      expect((await ask2(visitor, '/next')).text).toBe('fine')
      visitor.close()
    },
  )

  test('of fields that HTTP/2 has once, the first counts', async () => {
    const site = await open(
      () =>
        'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Type: text/html\r\nVary: a\r\nVary: b\r\nContent-Length: 0\r\n\r\n',
    )
    const visitor = http2To(live.relay, site)
    const { headers } = await ask2(visitor, '/')
    expect(headers).toMatchObject({ 'content-type': 'text/plain', vary: 'a, b' })
    visitor.close()
  })
})

describe('Trailer where no trailers can be', () => {
  const response = 'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nX-Kept: a\r\n'

  test.each([
    ['HEAD', 'HEAD', `${response}Transfer-Encoding: chunked\r\n\r\n`, 200],
    ['a length', 'GET', `${response}Content-Length: 0\r\n\r\n`, 200],
    ['204', 'GET', response.replace('200 OK', '204 No Content').concat('\r\n'), 204],
    ['304', 'GET', response.replace('200 OK', '304 Not Modified').concat('\r\n'), 304],
  ])('%s', async (_what, method, bytes, status) => {
    const site = await open(() => bytes)
    const answer = await askSite(live.relay, site, '/', { method })
    expect([answer.status, answer.headers['x-kept'], answer.headers.trailer]).toEqual([
      status,
      'a',
      undefined,
    ])
    const visitor = http2To(live.relay, site)
    expect((await ask2(visitor, '/', method)).headers).toMatchObject({ ':status': status, 'x-kept': 'a' })
    visitor.close()
  })

  test('HTTP/1.0', async () => {
    const site = await open(() => `${response}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`)
    const { host } = new URL(site.url)
    const text = await curl(
      live.relay.caFile,
      '--no-alpn',
      '--http1.0',
      '-H',
      `Host: ${host}`,
      `${site.url}/`,
    )
    expect(String(text)).toBe('ok')
  })

  test.each([
    ['a request', {}, 200],
    ['a request for a WebSocket', { Connection: 'Upgrade', Upgrade: 'websocket' }, 200],
  ])('%s, whose visitor gets its answer', async (_what, headers, status) => {
    const before = live.relay.log.length
    const site = await open(() => undefined)
    const { hostname, host } = new URL(site.url)
    const socket = live.relay.tls(hostname)
    const fields = Object.entries({ Host: host, Trailer: 'X-Sum', ...headers })
    socket.write(`GET / HTTP/1.1\r\n${fields.map((field) => field.join(': ')).join('\r\n')}\r\n\r\n`)
    expect(String((await once(socket, 'data'))[0])).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    socket.destroy()
    expect(live.relay.log.slice(before)).toEqual([])
  })
})

describe('interim responses', () => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n'
  const final = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

  async function received(site: HandMadeSite, expected: boolean): Promise<string> {
    const { hostname, host } = new URL(site.url)
    const socket = live.relay.tls(hostname)
    let text = ''
    socket.on('data', (chunk) => (text += chunk))
    const closed = closeOf(socket)
    const expect100 = expected ? 'Content-Length: 1\r\nExpect: 100-continue\r\n' : ''
    socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${expect100}\r\n`)
    if (expected) {
      await once(socket, 'data')
      socket.write('a')
    }
    await closed
    return text
  }

  test('a visitor who did not ask gets none of them', async () => {
    const site = await open(() => `${interim.repeat(2)}HTTP/1.1 103 Early Hints\r\n\r\n${final}`)
    expect(await received(site, false)).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  test('too many end the request', async () => {
    const site = await open((path) =>
      path === '/'
        ? interim.repeat(INTERIM_RESPONSES_MAX + 1) + final
        : interim.repeat(INTERIM_RESPONSES_MAX) + final,
    )
    expect(await askSite(live.relay, site, '/')).toMatchObject({ status: 502 })
    expect(await askSite(live.relay, site, '/fewer')).toMatchObject({ status: 200, text: 'ok' })
    const visitor = http2To(live.relay, site)
    expect((await ask2(visitor, '/')).headers[':status']).toBe(502)
    visitor.close()
  })
})

/** The same numbers each time. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
}

const STATUSES = [
  '100 Continue',
  '101 Switching Protocols',
  '102 Processing',
  '103 Early Hints',
  '199 x',
  '200 OK',
  '200',
  '200 \u00e9\x01\x7f',
  '204 No Content',
  '205 Reset Content',
  '206 Partial',
  '304 Not Modified',
  '099 x',
  '0 x',
  '421 x',
  '599 x',
  '600 x',
  '999 x',
  '1000 x',
]
const NAMES = [
  'http2-settings',
  'HTTP2-Settings',
  'Connection',
  'Upgrade',
  'Keep-Alive',
  'Proxy-Connection',
  'Transfer-Encoding',
  'TE',
  'Trailer',
  'Content-Length',
  'Content-Type',
  'Content-Range',
  'Date',
  'ETag',
  'Location',
  'Set-Cookie',
  ':status',
  ':path',
  '__proto__',
  'constructor',
  'toString',
  'Host',
  'Expect',
  'Age',
  'x',
  '!#$%&*+-.^_`|~9',
  'X Y',
  '',
  'Content-Length ',
  '\u00e9',
  'DNT',
  'If-None-Match',
  'Authorization',
  'Referer',
  'Access-Control-Max-Age',
]
const VALUES = [
  '',
  'x',
  '0',
  '-1',
  '5',
  '99999999999999999999',
  'chunked',
  'gzip, chunked',
  'identity',
  'trailers',
  'close',
  'close, x, content-length, date',
  'h2c, websocket',
  'AAMAAABkAAQAoAAAAAIAAAAA',
  'a\tb',
  '\x00',
  '\x7f',
  '\u00e9\u00ff',
  ' leading',
  'a,b,,c',
  'x'.repeat(7_000),
  'a\r b',
  'a\r\n b',
]

function oddResponse(pick: (below: number) => number): string {
  const one = (list: readonly string[]): string => list[pick(list.length)]!
  const fields = (most: number): string =>
    Array.from({ length: pick(most) }, () => {
      const name = one(NAMES)
      // Some come twice.
      return `${name}: ${one(VALUES)}\r\n`.concat(pick(4) === 0 ? `${name}: ${one(VALUES)}\r\n` : '')
    }).join('')
  const head = `HTTP/1.${pick(2)} ${one(STATUSES)}\r\n${fields(5)}`
  switch (pick(5)) {
    case 0:
      return `${head}\r\n`
    case 1:
      return `${head}Content-Length: 5\r\n\r\n12345`
    case 2:
      return `${head}Content-Length: 5\r\n\r\n123456789`
    case 3:
      return `${head}\r\nuntil the end`
    default:
      return `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n${fields(4)}\r\n`
  }
}

describe('any bytes', () => {
  const ROUNDS: number = atDepth(300, 40)
  const AT_ONCE = 20

  test.each(atDepth([1, 2], [1]))(
    'of site %i leave the relay as it was, and the next visitor is served',
    async (seed) => {
      const pick = random(seed)
      const responses = Array.from({ length: ROUNDS }, () => oddResponse(pick))
      const site = await open((path) => responses[Number(path.slice(1))], impatient)
      for (let begin = 0; begin < ROUNDS; begin += AT_ONCE) {
        const visitor = http2To(impatient.relay, site)
        visitor.on('error', () => {})
        await Promise.all(
          Array.from({ length: AT_ONCE }, async (_, n) => {
            const [path, method] = [`/${begin + n}`, n % 4 === 0 ? 'HEAD' : 'GET']
            const patience = AbortSignal.timeout(VISITOR_PATIENCE_MS)
            const streams = ask2(visitor, path, method).catch(() => undefined)
            const plain = askSite(impatient.relay, site, path, { method, signal: patience }).catch(
              () => undefined,
            )
            await Promise.all([streams, plain])
            expect(patience.aborted).toBe(false)
          }),
        )
        visitor.destroy()
        expect(fatal, JSON.stringify(responses.slice(begin, begin + AT_ONCE))).toEqual([])
      }
      expect((await askSite(impatient.relay, site, '/fine')).text).toBe('fine')
      const visitor = http2To(impatient.relay, site)
      expect((await ask2(visitor, '/fine')).text).toBe('fine')
      visitor.close()
    },
  )
})
