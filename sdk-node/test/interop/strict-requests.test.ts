// One strictness for every HTTP server: a table of literal requests, with the status that the SDK's server, each of the
// relay's and the agent's gives them. The SDK's is the measure.

import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { REQUEST_HEAD_MAX_BYTES, StrictRequests } from '@svc/node-kit/http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../../relay/src/core/log/log.ts'
import type { OverlayNetwork } from '../../../relay/src/features/overlay/overlay-network.ts'
import { OverlayServer, type OverlayTable } from '../../../relay/src/features/overlay/overlay-server.ts'
import { createHttp1 } from '../../../relay/src/features/static-cache/server/http-servers.ts'
import { ROOT_HOST, startTestRelay, type TestRelay } from '../../../relay/test/support/relay.ts'
import { serveHttp1 } from '../../../sdk-core/src/http1/connection.ts'
import { freePort } from '../../../tools/network/free-port.ts'
import { type ControlServer, startControlServer } from '../../src/agent/control-server.ts'
import { agentApi } from '../../src/agent/endpoints.ts'
import type { AgentOperations } from '../../src/agent/operations.ts'
import { SocketStream } from '../../src/net/socket-stream.ts'

const KB = 1024
const HOST = 'Host: {host}'

interface HttpServer {
  open(): Promise<Socket>
  /** A path that it serves, and the status of that. */
  path: string
  status: number
  /** @default that of the relay */
  host?: string
}

const servers: Record<string, HttpServer> = {}
const listeners: Server[] = []
let relay: TestRelay
let overlay: OverlayServer
let agent: ControlServer
const EVERYBODY = {
  address: '127.0.0.1',
  peerAt: () => ({ identity: '0x1', origin: 'https://peer.example', overlayAddress: '127.0.0.1', port: 1 }),
} as unknown as OverlayNetwork
const OVERLAY_TABLE: OverlayTable = {
  handlers: new Map([['GET /', (_peer, _request, response) => void response.end('ok')]]),
  upgrades: new Map(),
}
beforeAll(async () => {
  const [redirects, metrics] = [await freePort(), await freePort()]
  relay = await startTestRelay({
    HTTP_REDIRECT_ADDR: `127.0.0.1:${redirects}`,
    METRICS_ADDR: `127.0.0.1:${metrics}`,
  })
  const sdk = await listen((socket) => {
    const fetch = async (request: Request) => {
      await request.arrayBuffer()
      return new Response('ok')
    }
    const site = { isOwnHost: () => true, canonicalUrl: `https://${ROOT_HOST}/`, onError: () => {} }
    void serveHttp1(new SocketStream(socket, () => socket.destroy()), { fetch, ...site })
  })
  const cache = createHttp1()
  const strict = new StrictRequests(cache, 'connection')
  cache.on(
    'request',
    strict.requests((_request, response) => void response.end('ok')),
  )
  const overlayPort = await freePort()
  overlay = new OverlayServer(EVERYBODY, OVERLAY_TABLE, 64, createLog('silent'))
  await overlay.listen(overlayPort)
  agent = await startControlServer(
    { host: '127.0.0.1', port: 0 },
    'a token',
    agentApi(
      { failed: (error: unknown) => expect.fail(String(error)) } as unknown as AgentOperations,
      async () => ({ status: 200, headers: {}, body: 'ok' }),
    ),
  )
  Object.assign(servers, {
    'the SDK': { open: () => dial(sdk), path: '/', status: 200 },
    'the API': { open: dialApi, path: '/api/healthz', status: 200 },
    'the static cache': {
      open: async () => dial(await listen((socket) => void cache.emit('connection', socket))),
      path: '/',
      status: 200,
    },
    'the redirect listener': { open: () => dial(redirects), path: '/', status: 308 },
    'the metrics': { open: () => dial(metrics), path: '/metrics', status: 200 },
    'the overlay': { open: () => dial(overlayPort), path: '/', status: 200 },
    'the agent': {
      open: () => dial(Number(new URL(agent.url).port)),
      path: '/',
      status: 200,
      host: new URL(agent.url).host,
    },
  })
})
afterAll(async () => {
  for (const listener of listeners) listener.close()
  await Promise.all([relay.close(), overlay.close(), agent.close()])
})

async function listen(serve: (socket: Socket) => void): Promise<number> {
  const listener = createServer({ allowHalfOpen: true }, serve).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  listeners.push(listener)
  return (listener.address() as { port: number }).port
}

async function dial(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  await once(socket, 'connect')
  return socket
}

async function dialApi(): Promise<Socket> {
  const socket = relay.tls(ROOT_HOST)
  await once(socket, 'secureConnect')
  return socket
}

/** The statuses of all that comes until the server ends the connection in order: a reset is an error. */
async function statuses(server: HttpServer, text: string): Promise<number[]> {
  const socket = await server.open()
  socket.write(named(server, text), 'latin1')
  const answers = Buffer.concat(await socket.toArray()).toString('latin1')
  socket.destroy()
  return Array.from(answers.matchAll(/(?:^|\n|\}|ok)HTTP\/1\.1 (\d{3}) ?/g), ([, status]) => Number(status))
}

function named({ host = ROOT_HOST }: HttpServer, text: string): string {
  return text.replaceAll('{host}', host)
}

/** A request after which the connection ends, of the request line and the fields. */
function head(line: string, ...fields: string[]): string {
  return `${[line, HOST, 'Connection: close', ...fields].join('\r\n')}\r\n\r\n`
}

/** `{path}` is one that the server serves. */
const VECTORS: [what: string, text: string, status: number | 'served'][] = [
  ['a plain request', head('GET {path} HTTP/1.1'), 'served'],
  ['an empty line before it', `\r\n${head('GET {path} HTTP/1.1')}`, 'served'],
  ['HTTP/1.0', head('GET {path} HTTP/1.0'), 'served'],
  ['two blanks before the target', head('GET  {path} HTTP/1.1'), 400],
  ['two blanks before the version', head('GET {path}  HTTP/1.1'), 400],
  ['a blank behind the version', head('GET {path} HTTP/1.1 '), 400],
  ['no version', head('GET {path}'), 400],
  ['HTTP/2.0', head('GET {path} HTTP/2.0'), 505],
  ['HTTP/0.9', head('GET {path} HTTP/0.9'), 505],
  ['a fragment', head('GET {path}#a HTTP/1.1'), 400],
  ['a target that is no path', head('GET x{path} HTTP/1.1'), 400],
  ['an asterisk with GET', head('GET * HTTP/1.1'), 400],
  [
    'another coding before the chunks',
    `${head('POST {path} HTTP/1.1', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
    501,
  ],
  ['another coding alone', head('POST {path} HTTP/1.1', 'Transfer-Encoding: gzip'), 400],
  ['chunks in HTTP/1.0', `${head('POST {path} HTTP/1.0', 'Transfer-Encoding: chunked')}0\r\n\r\n`, 400],
  [
    'chunks and a length',
    `${head('POST {path} HTTP/1.1', 'Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n`,
    400,
  ],
  ['two lengths', head('GET {path} HTTP/1.1', 'Content-Length: 0', 'Content-Length: 1'), 400],
  ['a blank before a colon', head('GET {path} HTTP/1.1', 'X : 1'), 400],
  ['a folded field', head('GET {path} HTTP/1.1', 'X: 1', ' 2'), 400],
  [
    'a head of 60 KB',
    head('GET {path} HTTP/1.1', ...Array<string>(60).fill(`X: ${'x'.repeat(KB - 5)}`)),
    'served',
  ],
  [
    'a head that is too large by a little',
    head('GET {path} HTTP/1.1', `X: ${'x'.repeat(REQUEST_HEAD_MAX_BYTES)}`),
    431,
  ],
  ['a head of 1 MB', head('GET {path} HTTP/1.1', `X: ${'x'.repeat(900 * KB)}`), 431],
  ['more than 100 fields', head('GET {path} HTTP/1.1', ...Array<string>(100).fill('X: 1')), 431],
  ['a request line of 9 KB', head(`GET {path}?${'x'.repeat(9 * KB)} HTTP/1.1`), 414],
]

describe.each([
  'the SDK',
  'the API',
  'the static cache',
  'the redirect listener',
  'the metrics',
  'the overlay',
  'the agent',
])('%s', (name) => {
  test.each(VECTORS)('%s', async (_what, text, status) => {
    const server = servers[name]!
    const expected = status === 'served' ? server.status : status
    expect(await statuses(server, text.replaceAll('{path}', server.path))).toEqual([expected])
  })

  test.skipIf(name === 'the redirect listener')(
    'an answer that waits is sent before a refusal behind it',
    async () => {
      const server = servers[name]!
      const good = head(`GET ${server.path} HTTP/1.1`).replace('Connection: close\r\n', '')
      for (const bad of ['GET  / HTTP/1.1', 'GET / HTTP/2.0', 'GET / HTTP/1.1 x'])
        expect(await statuses(server, `${good}${head(bad)}`)).toEqual([server.status, expect.any(Number)])
      expect(await statuses(server, `${good}${good}${head('GET  / HTTP/1.1')}`)).toEqual([
        server.status,
        server.status,
        400,
      ])
    },
  )

  test.skipIf(name === 'the redirect listener')(
    'a body that repeats the request line hides none behind it',
    async () => {
      const server = servers[name]!
      const good = `GET ${server.path} HTTP/1.1`
      const bad = head(`GET  ${server.path} HTTP/1.1`)
      const body = named(server, head(good))
      const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
      const chunks = `000${chunk(body)}${chunk('ab').replace('\r\n', ';x=0\r\n')}`
      const waiting = (field: string) => `${[good, HOST, field].join('\r\n')}\r\n\r\n`
      for (const first of [
        `${waiting(`Content-Length: ${body.length}`)}${body}`,
        `${waiting('Transfer-Encoding: chunked')}${chunks}0\r\n\r\n`,
        `${waiting('Transfer-Encoding: chunked')}${chunks}0\r\nX: 1\r\n\r\n`,
      ]) {
        expect.soft(await statuses(server, `${first}${bad}`)).toEqual([server.status, 400])
        expect.soft(await statuses(server, `${first}${body}`)).toEqual([server.status, server.status])
      }
    },
  )

  test('a head that comes byte by byte is judged as one that comes at once', async () => {
    const server = servers[name]!
    for (const [line, status] of [
      ['GET {path} HTTP/1.1', server.status],
      ['GET  {path} HTTP/1.1', 400],
    ] as const) {
      const socket = await server.open()
      socket.on('error', () => {})
      for (const byte of head(line.replace('{path}', server.path)).replace(
        '{host}',
        server.host ?? ROOT_HOST,
      ))
        await new Promise((resolve) => socket.write(byte, resolve))
      const answer = Buffer.concat(await socket.toArray()).toString('latin1')
      expect(Number(answer.slice(9, 12))).toBe(status)
    }
  })
})
