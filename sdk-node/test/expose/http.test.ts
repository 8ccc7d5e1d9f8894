// `expose` of a local HTTP server, at a real relay, over each carrier.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { createServer as createHttpsServer, request } from 'node:https'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { describeVariants } from '../../../tools/describe-variants.ts'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import type { CarrierKind, Exposure, RequestReport, SvcError } from '../../src/index.ts'
import { TARGET_MESSAGE_MAX_BYTES } from '../../src/target/websocket-proxy.ts'
import { exposeAt, listening, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'

const relay = useStarted(startTestRelay)

let answer: RequestListener
let target: Server
let exposure: Exposure | undefined
let failures: SvcError[]

async function start(carrier: CarrierKind): Promise<string> {
  exposure = await exposeAt(relay, {
    http: await listening(target),
    carrier,
    onTargetError: (error) => failures.push(error),
  })
  return exposure.sites[0]!.url
}

beforeEach(() => {
  failures = []
  target = createServer((asked, response) => answer(asked, response))
})
afterEach(async () => {
  await exposure?.close()
  exposure = undefined
  target.close()
  target.closeAllConnections()
})

/** Header fields by which proxies describe a visitor to their servers, of each kind; here only the visitor can have sent them. */
const CLAIMS = Object.fromEntries(
  [
    'CF-Connecting-IP',
    'Client-Cert',
    'Proxy',
    'Remote-User',
    'Remote_User',
    'SSL_CLIENT_S_DN',
    'X-Auth-Request-Email',
    'X-Forwarded-User',
    'X_Forwarded_For',
    'X-Original-URL',
    'X-Real-IP',
    'X-Svc-Wallet',
    'X-WebAuth-User',
  ].map((name) => [name, '1.2.3.4']),
)

/** The names that a visitor's claims came under. */
function claimed({ headers }: IncomingMessage): string[] {
  return Object.keys(headers).filter((name) => String(headers[name]).includes('1.2.3.4'))
}

describeVariants('by the carrier %s', ['native', 'websocket'] as const, (carrier) => {
  it('passes the request on, says where it came from, and drops what a visitor claims', async () => {
    let seen: IncomingMessage | undefined
    answer = (asked, response) => {
      seen = asked
      response.writeHead(
        201,
        'Made',
        [
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
          ['X-Own', 'yes'],
        ].flat(),
      )
      response.end('hello')
    }
    const url = await start(carrier)
    const response = await visit(relay, url, '/a%2Fb//c?d=e&f', {
      headers: {
        'X-Forwarded-For': '1.2.3.4',
        Forwarded: 'for=1.2.3.4',
        ...CLAIMS,
        'Accept-Encoding': 'br',
        Cookie: 'c=3',
      },
    })
    expect([response.statusCode, response.headers['x-own']]).toEqual([201, 'yes'])
    expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect(await text(response)).toBe('hello')
    expect(seen!.url).toBe('/a%2Fb//c?d=e&f')
    const { host } = new URL(url)
    expect(seen!.headers).toMatchObject({
      host,
      'x-forwarded-host': host,
      'x-forwarded-port': String(relay.port),
      'x-forwarded-proto': 'https',
      forwarded: `for=127.0.0.1;host="${host}";proto=https`,
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      'accept-encoding': 'br',
      cookie: 'c=3',
    })
    expect(claimed(seen!)).toEqual([])
  })

  it('lets through what it is told to, and says nothing else in its place', async () => {
    let seen: IncomingMessage | undefined
    answer = (asked, response) => {
      seen = asked
      response.end()
    }
    exposure = await exposeAt(relay, {
      http: await listening(target),
      carrier,
      allowFields: ['X-Forwarded-For', 'Remote-User'],
    })
    const headers = { 'X-Forwarded-For': '1.2.3.4', 'X-Forwarded-Proto': '1.2.3.4', ...CLAIMS }
    await text(await visit(relay, exposure.sites[0]!.url, '/', { headers }))
    expect(claimed(seen!).toSorted()).toEqual(['remote-user', 'x-forwarded-for'])
    expect(seen!.headers['x-forwarded-proto']).toBe('https')
  })

  it('passes on a GET with content, and methods that it does not know', async () => {
    const seen: string[] = []
    answer = async (asked, response) => {
      seen.push(`${asked.method} ${Buffer.concat(await asked.toArray())}`)
      response.end()
    }
    const url = await start(carrier)
    const sent = { body: '{"query":1}', headers: { 'content-length': 11 } }
    await text(await visit(relay, url, '/_search', { method: 'GET', ...sent }))
    await text(await visit(relay, url, '/', { method: 'PURGE' }))
    await text(await visit(relay, url, '/', { method: 'PROPFIND', ...sent }))
    expect(seen).toEqual(['GET {"query":1}', 'PURGE ', 'PROPFIND {"query":1}'])
  })

  it('streams: an event is there before the answer has ended', async () => {
    let finish = () => {}
    answer = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write('data: 1\n\n')
      finish = () => response.end('data: 2\n\n')
    }
    const response = await visit(relay, await start(carrier))
    const [first] = await once(response, 'data')
    expect(String(first)).toBe('data: 1\n\n')
    finish()
    expect(await text(response)).toBe('data: 2\n\n')
  })

  it('passes WebSockets on, with subprotocol, both kinds of messages, and the status of the close', async () => {
    answer = (_, response) => void response.end()
    const sockets = new WebSocketServer({ server: target, handleProtocols: () => 'chat' })
    const asked = once(sockets, 'connection')
    sockets.on('connection', (socket) => {
      socket.send('welcome')
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
      socket.on('close', (code, reason) => left.resolve([code, reason.toString()]))
    })
    const left = Promise.withResolvers<[number, string]>()
    const socket = visitSocket(await start(carrier), ['talk', 'chat'])
    const received: (string | Buffer)[] = []
    socket.on('message', (data, isBinary) => received.push(isBinary ? (data as Buffer) : data.toString()))
    await once(socket, 'open')
    expect(socket.protocol).toBe('chat')
    const bytes = randomBytes(300_000)
    socket.send('hello')
    socket.send(bytes)
    await expect.poll(() => received.length).toBe(3)
    expect(received).toEqual(['welcome', 'hello', bytes])
    socket.close(4321, 'enough')
    expect(await left.promise).toEqual([4321, 'enough'])
    expect(claimed((await asked)[1])).toEqual([])
  })
})

it('a WebSocket that the target refuses is refused with its status, fields and body', async () => {
  answer = (_, response) => void response.end()
  const fields =
    'WWW-Authenticate: Bearer realm="a"\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Type: application/json'
  target.on('upgrade', (_, socket) =>
    socket.end(
      `HTTP/1.1 401 Unauthorized\r\n${fields}\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{"no":"yes"}`,
    ),
  )
  const [, response]: [unknown, IncomingMessage] = (await once(
    visitSocket(await start('native')),
    'unexpected-response',
  )) as never
  expect([response.statusCode, response.headers['www-authenticate'], response.headers['set-cookie']]).toEqual(
    [401, 'Bearer realm="a"', ['a=1', 'b=2']],
  )
  expect([response.headers['content-type'], await text(response)]).toEqual([
    'application/json',
    '{"no":"yes"}',
  ])
})

it.each(['1.1', '2'])("the fields of a target's 101 reach the visitor of HTTP/%s", async (version) => {
  const sockets = new WebSocketServer({ server: target })
  sockets.on('headers', (lines) => lines.push('Set-Cookie: a=1; Path=/', 'Set-Cookie: b=2', 'X-Extra: yes'))
  const url = await start('native')
  if (version === '1.1') {
    const [{ headers }]: [IncomingMessage] = (await once(visitSocket(url), 'upgrade')) as never
    expect([headers['set-cookie'], headers['x-extra']]).toEqual([['a=1; Path=/', 'b=2'], 'yes'])
    return
  }
  const { host, hostname } = new URL(url)
  const session = connectHttp2(`https://127.0.0.1:${relay.port}`, { servername: hostname, ca: relay.ca })
  await once(session, 'remoteSettings')
  const stream = session.request({
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    ':scheme': 'https',
    ':path': '/',
    ':authority': host,
    'sec-websocket-version': '13',
  })
  const [headers] = await once(stream, 'response')
  expect([headers[':status'], headers['set-cookie'], headers['x-extra']]).toEqual([
    200,
    ['a=1; Path=/', 'b=2'],
    'yes',
  ])
  stream.destroy()
  session.destroy()
})

it("a target that breaks a WebSocket off breaks off the visitor's, behind what it sent, and the other way round", async () => {
  const left = Promise.withResolvers<number>()
  new WebSocketServer({ server: target }).on('connection', (socket, { url }) => {
    socket.on('close', (code) => url === '/left' && left.resolve(code))
    if (url === '/broken') socket.send('last words', () => socket.terminate())
  })
  const url = await start('native')
  const visitor = visitSocket(url, [], '/broken')
  const said: string[] = []
  visitor.on('message', (data) => said.push(String(data)))
  const [code] = await once(visitor, 'close')
  expect([said, code]).toEqual([['last words'], 1006])
  const leaving = visitSocket(url, [], '/left')
  await once(leaving, 'open')
  leaving.terminate()
  expect(await left.promise).toBe(1006)
})

it("a target that closes a WebSocket closes the visitor's, with its status", async () => {
  const sockets = new WebSocketServer({ server: target })
  sockets.on('connection', (socket) => socket.close(4000, 'over'))
  const [code, reason] = await once(visitSocket(await start('native')), 'close')
  expect([code, String(reason)]).toEqual([4000, 'over'])
})

describe('a WebSocket between unequal sides', () => {
  const BLOCK = Buffer.alloc(1024 * 1024)
  const BLOCKS: number = atDepth(150, 80)

  wholeOnly(it, 'depth')(
    'a visitor that reads slowly holds the target back, and misses nothing',
    async () => {
      let taken = 0
      new WebSocketServer({ server: target }).on('connection', (socket) => {
        for (let i = 0; i < BLOCKS; i++) socket.send(BLOCK, () => (taken += 1))
      })
      const visitor = visitSocket(await start('native'))
      let received = 0
      visitor.on('message', () => (received += 1))
      await once(visitor, 'open')
      visitor.pause()
      const isStill = async (): Promise<boolean> => {
        const before = taken
        await new Promise((resolve) => setTimeout(resolve, 500))
        return taken === before
      }
      await expect.poll(isStill).toBe(true)
      // bounded here, and what the kernel's buffers hold
      expect(taken).toBeLessThan(BLOCKS / 2)
      visitor.resume()
      await expect.poll(() => received).toBe(BLOCKS)
    },
  )

  wholeOnly(it, 'depth')(
    'a target that reads slowly holds the visitor back, and misses nothing',
    async () => {
      let received = 0
      let socketOfTarget: WebSocket | undefined
      new WebSocketServer({ server: target }).on('connection', (socket) => {
        socketOfTarget = socket.on('message', (data) => (received += (data as Buffer).length))
        socket.pause()
      })
      const visitor = visitSocket(await start('native'), [], '/', { perMessageDeflate: false })
      await once(visitor, 'open')
      let taken = 0
      for (let i = 0; i < BLOCKS; i++) visitor.send(BLOCK, () => (taken += 1))
      const isStill = async (): Promise<boolean> => {
        const before = taken
        await new Promise((resolve) => setTimeout(resolve, 500))
        return taken === before
      }
      await expect.poll(isStill).toBe(true)
      expect(taken).toBeLessThan(BLOCKS / 2)
      socketOfTarget!.resume()
      await expect.poll(() => received).toBe(BLOCKS * BLOCK.length)
      visitor.close(4000)
      expect((await once(socketOfTarget!, 'close'))[0]).toBe(4000)
    },
  )

  wholeOnly(it, 'depth')(
    'a message of the largest size passes both ways, and a larger one ends both sides with 1009',
    async () => {
      const largest = Buffer.alloc(TARGET_MESSAGE_MAX_BYTES)
      const tooLarge = Buffer.alloc(TARGET_MESSAGE_MAX_BYTES + 1)
      new WebSocketServer({ server: target }).on('connection', (socket, { url }) => {
        socket.on('error', () => {})
        socket.on('message', (data) => socket.send(data))
        if (url === '/large') socket.send(tooLarge)
      })
      const url = await start('native')
      const sender = visitSocket(url)
      sender.on('error', () => {})
      await once(sender, 'open')
      sender.send(largest)
      expect((await once(sender, 'message'))[0]).toHaveLength(largest.length)
      sender.send(tooLarge)
      expect((await once(sender, 'close'))[0]).toBe(1009)
      const [code, reason] = await once(visitSocket(url, [], '/large'), 'close')
      expect([code, String(reason)]).toEqual([1009, 'a message of the server is larger than 16 MiB'])
    },
  )
})

it('visitors of HTTP/2 take the direct way as those of HTTP/1.1 do, and are reported', async () => {
  let seen: IncomingMessage | undefined
  answer = async (asked, response) => {
    seen = asked
    response.setHeader('Set-Cookie', ['a=1', 'b=2'])
    response.end((await text(asked)).toUpperCase())
  }
  const reports: RequestReport[] = []
  exposure = await exposeAt(relay, {
    http: await listening(target),
    onRequest: (report) => reports.push(report),
  })
  const { host, hostname } = new URL(exposure.sites[0]!.url)
  const session = connectHttp2(`https://127.0.0.1:${relay.port}`, { servername: hostname, ca: relay.ca })
  const stream = session.request({
    ':method': 'POST',
    ':path': '/a/../b?c',
    ':authority': host,
    cookie: ['d=3', 'e=4'],
    'x-forwarded-for': '1.2.3.4',
  })
  stream.end('hello')
  const [headers] = await once(stream, 'response')
  expect([headers[':status'], headers['set-cookie']]).toEqual([200, ['a=1', 'b=2']])
  expect(Buffer.concat(await stream.toArray()).toString()).toBe('HELLO')
  session.close()
  expect([seen!.method, seen!.url, seen!.headers.cookie]).toEqual(['POST', '/b?c', 'd=3; e=4'])
  expect(seen!.headers['x-forwarded-for']).toBe('127.0.0.1')
  expect(reports).toEqual([
    {
      method: 'POST',
      path: '/b',
      status: 200,
      remote: expect.objectContaining({ address: '127.0.0.1' }),
      ms: expect.any(Number),
      httpVersion: '2',
      bytes: 5,
    },
  ])
})

it.each(['HTTP/1.1', 'HTTP/2'])('passes interim responses of the target on over %s', async (version) => {
  answer = (_, response) =>
    response.writeEarlyHints({ link: '</style.css>; rel=preload' }, () => response.end('ok'))
  const { host, hostname } = new URL(await start('native'))
  const links: unknown[] = []
  if (version === 'HTTP/2') {
    const session = connectHttp2(`https://127.0.0.1:${relay.port}`, { servername: hostname, ca: relay.ca })
    const stream = session.request({ ':authority': host })
    stream.on('headers', (headers) => links.push(headers[':status'], headers.link))
    const [headers] = await once(stream, 'response')
    expect(headers[':status']).toBe(200)
    expect(Buffer.concat(await stream.toArray()).toString()).toBe('ok')
    session.close()
  } else {
    const asked = request({
      host: '127.0.0.1',
      port: relay.port,
      servername: hostname,
      ca: relay.ca,
      headers: { host },
    })
    asked.on('information', ({ statusCode, headers }) => links.push(statusCode, headers.link)).end()
    const [response] = await once(asked, 'response')
    expect(await text(response)).toBe('ok')
  }
  expect(links).toEqual([103, '</style.css>; rel=preload'])
})

it('a body of a method that Node does not frame by itself is one body, not the next request', async () => {
  const seen: string[] = []
  answer = async (asked, response) => {
    seen.push(`${asked.method} ${asked.url} ${await text(asked)}`)
    response.end()
  }
  const url = await start('native')
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'
  const headers = { 'Transfer-Encoding': 'chunked' }
  await text(await visit(relay, url, '/', { method: 'DELETE', body: smuggled, headers }))
  expect(seen).toEqual([`DELETE / ${smuggled}`])
})

it('an answer that must not have a body has none', async () => {
  answer = (asked, response) => void response.writeHead(asked.url === '/304' ? 304 : 204).end()
  const url = await start('native')
  for (const status of [204, 304]) {
    const response = await visit(relay, url, `/${status}`)
    expect([response.statusCode, await text(response)]).toEqual([status, ''])
  }
})

it('answers a visitor that half-closes after a whole request', async () => {
  const asked = Promise.withResolvers<() => void>()
  answer = (_, response) => asked.resolve(() => response.end('late'))
  const { host, hostname } = new URL(await start('native'))
  const tcp = connect({ port: relay.port, host: '127.0.0.1', allowHalfOpen: true })
  const visitor = connectTls({ socket: tcp, servername: hostname, ca: relay.ca })
  visitor.end(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  const respond = await asked.promise
  // The end left with the request: the SDK has it before the target's answer.
  respond()
  expect(Buffer.concat(await visitor.toArray()).toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*late/s)
})

describe('a target that is down', () => {
  it('is 502 that does not say where it is, and told; back again it is served', async () => {
    answer = (_, response) => void response.end('back')
    const url = await start('native')
    const { port } = target.address() as { port: number }
    target.close()
    target.closeAllConnections()
    const response = await visit(relay, url)
    expect(response.statusCode).toBe(502)
    expect(await text(response)).toBe('The server behind this site does not answer\n')
    expect(failures).toEqual([expect.objectContaining({ code: 'target_unreachable' })])
    target = createServer((asked, answered) => answer(asked, answered)).listen(port, '127.0.0.1')
    await once(target, 'listening')
    expect(await text(await visit(relay, url))).toBe('back')
  })

  it('in the middle of an answer does not look like its end', async () => {
    let breakOff = () => {}
    answer = (_, response) => {
      response.write('half')
      breakOff = () => response.destroy()
    }
    const response = await visit(relay, await start('native'))
    breakOff()
    await expect(text(response)).rejects.toMatchObject({ code: 'ECONNRESET' })
  })
})

it('an HTTPS target is checked against the given CA, and refused without it', async () => {
  const certificate = { cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM }
  const secure = createHttpsServer(certificate, (_, response) => void response.end('secure'))
  const http = `https://relay.localhost:${await listening(secure)}`
  for (const [targetCa, status] of [
    [CERTIFICATE_PEM, 200],
    [undefined, 502],
  ] as const) {
    exposure = await exposeAt(relay, { http, targetCa })
    expect((await visit(relay, exposure.sites[0]!.url)).statusCode).toBe(status)
    await exposure.close()
  }
  secure.close()
})

function visitSocket(url: string, protocols: string[] = [], path = '/', more: ClientOptions = {}): WebSocket {
  const { host, hostname } = new URL(url)
  const options = { servername: hostname, ca: relay.ca, headers: { ...CLAIMS, Host: host }, ...more }
  return new WebSocket(`wss://127.0.0.1:${relay.port}${path}`, protocols, options)
}
