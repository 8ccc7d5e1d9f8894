// The inspector around targets of every kind, with visitors through a real relay.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:http2'
import { Agent } from 'node:https'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { Inspection, Inspector } from '@svc/sdk-core/inspector'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { descriptorSet } from '../../../sdk-core/test/inspector/protobuf-set.ts'
import { collectedMemory } from '../../../tools/collected-memory.ts'
import { atDepth } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import type { ExposeOptions } from '../../src/index.ts'
import { exposeAt, listening, text, visit } from '../support/exposed.ts'
import { EchoClient, EchoServer } from '../support/grpc-echo.ts'
import { startTestRelay } from '../support/relay.ts'

const relay = useStarted(startTestRelay)

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

interface Shown {
  url: string
  inspector: Inspector
  inspection: Inspection
}

async function inspected(options: Partial<ExposeOptions>, inspector = new Inspector()): Promise<Shown> {
  const exposure = await exposeAt(relay, { inspector, ...options })
  ends.push(() => exposure.close())
  return { url: exposure.sites[0]!.url, inspector, inspection: new Inspection(inspector) }
}

async function serving(server: Server): Promise<number> {
  ends.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return await listening(server)
}

/** Resolves with the details of the last entry, once it has ended. */
async function lastEntry({ inspector, inspection }: Shown, count = 1) {
  await expect.poll(() => inspector.entries.filter(({ times }) => times.end !== undefined).length).toBe(count)
  return inspection.entry(inspector.entries[0]!.id, true)
}

it('has both heads and contents, the sizes before and after compression, the times and the visitor', async () => {
  const body = JSON.stringify({ list: Array.from({ length: 500 }, () => 'same') })
  const http = await serving(
    createServer((request, response) => {
      response.setHeader('Content-Type', 'application/json').setHeader('Content-Encoding', 'gzip')
      request.resume().on('end', () => response.end(gzipSync(body)))
    }),
  )
  const shown = await inspected({ http })
  const answer = await visit(relay, shown.url, '/a?b=1', {
    method: 'POST',
    body: 'a=1',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  const sent = (await answer.toArray()).reduce((sum, part) => sum + part.length, 0)
  const entry = await lastEntry(shown)
  expect(entry).toMatchObject({
    method: 'POST',
    path: '/a?b=1',
    version: '1.1',
    address: '127.0.0.1',
    state: 'done',
    request: { body: { wire_bytes: 3, view: { kind: 'form', fields: [{ name: 'a', value: '1' }] } } },
    response: {
      status: 200,
      body: { wire_bytes: sent, encoding: 'gzip', decoded_bytes: body.length, view: { kind: 'json' } },
    },
  })
  const { sent: toTarget, head, end } = entry.times
  expect(toTarget).toBeGreaterThanOrEqual(0)
  expect(head).toBeGreaterThanOrEqual(toTarget!)
  expect(end).toBeGreaterThanOrEqual(head!)
})

it('knows HTTP/2, and repeats a request at the target', async () => {
  const asked: string[] = []
  const http = await serving(
    createServer((request, response) => {
      asked.push(
        `${request.method} ${request.url} ${request.headers['x-a']} ${request.headers['x-forwarded-for']}`,
      )
      response.end('ok')
    }),
  )
  const shown = await inspected({ http })
  const session = connect(shown.url, { ca: relay.ca, host: '127.0.0.1', port: relay.port } as object)
  ends.push(() => session.destroy())
  const stream = session.request({ ':path': '/two', 'x-a': '1' })
  await text(stream as never)
  expect(await lastEntry(shown)).toMatchObject({ version: '2', path: '/two' })
  await shown.inspector.replay(shown.inspector.entries[0]!.id)
  expect(asked).toEqual(['GET /two 1 127.0.0.1', 'GET /two 1 127.0.0.1'])
})

it('a form of 50 MB passes whole, and takes no more memory than its limits', async () => {
  const size = 50 * 1024 * 1024
  let received = 0
  const http = await serving(
    createServer((request, response) => {
      request.on('data', (part: Buffer) => {
        received += part.length
      })
      request.on('end', () => response.end('thanks'))
    }),
  )
  const shown = await inspected({ http }, new Inspector({ maxBodyBytes: 64 * 1024, maxBytes: 1024 * 1024 }))
  const chunk = randomBytes(1024 * 1024)
  const head =
    '--b\r\nContent-Disposition: form-data; name="f"; filename="big.bin"\r\nContent-Type: application/zip\r\n\r\n'
  const tail = '\r\n--b\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n--b--\r\n'
  function* form(): Generator<Buffer> {
    yield Buffer.from(head)
    for (let sent = 0; sent < size; sent += chunk.length) yield chunk
    yield Buffer.from(tail)
  }
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' }
  const answer = await visit(relay, shown.url, '/', { method: 'POST', headers, body: Readable.from(form()) })
  expect(await text(answer)).toBe('thanks')
  expect(received).toBe(head.length + size + tail.length)
  const entry = await lastEntry(shown)
  expect(entry.request.body).toMatchObject({
    wire_bytes: received,
    kept_bytes: 64 * 1024,
    view: {
      kind: 'multipart',
      parts: [
        { name: 'f', file_name: 'big.bin', type: 'application/zip', size, cut: true },
        { name: 'note', text: 'hello', size: 5, cut: false },
      ],
    },
  })
  expect(entry.not_repeatable).toContain('only 65536 bytes')
  expect(shown.inspector.bytes).toBeLessThan(128 * 1024)
})

const REQUESTS = atDepth(10_000, 300)
const AT_ONCE = 20
/** More than memory may differ, in bytes, for what relay, site, server and visitors do in this process. */
const TOLERANCE_BYTES = 12 * 1024 * 1024

it(`${REQUESTS} requests: memory is flat, and each is counted`, async () => {
  const content = 'x'.repeat(2_000)
  const http = await serving(
    createServer((request, response) => void request.resume().on('end', () => response.end(content))),
  )
  const shown = await inspected({ http }, new Inspector({ limit: 100 }))
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  ends.push(() => agent.destroy())
  const send = async (count: number): Promise<void> => {
    let left = count
    const visitor = async (): Promise<void> => {
      while (left-- > 0)
        await text(await visit(relay, shown.url, '/hook', { method: 'POST', body: content, agent }))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, visitor))
  }
  const used = (): number => {
    const { heap, buffers } = collectedMemory()
    return heap + buffers
  }
  await send(REQUESTS / 4)
  const before = used()
  await send((REQUESTS * 3) / 4)
  expect(used() - before).toBeLessThan(TOLERANCE_BYTES)
  const { inspector } = shown
  expect([inspector.entries.length, inspector.dropped.entries]).toEqual([100, REQUESTS - 100])
  expect(inspector.entries.every(({ response }) => response?.bodyBytes === content.length)).toBe(true)
}, 300_000)

it('a WebSocket: each message with direction and size, while it is open', async () => {
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) =>
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
  )
  const shown = await inspected({ http: await serving(server) })
  const { host, hostname } = new URL(shown.url)
  const options = { ca: relay.ca, servername: hostname, headers: { Host: host } }
  const socket = new WebSocket(`wss://127.0.0.1:${relay.port}/live`, [], options)
  await once(socket, 'open')
  socket.send('hello')
  await once(socket, 'message')
  socket.send(Buffer.from([1, 2, 3]))
  await once(socket, 'message')
  const open = await shown.inspection.entry(shown.inspector.entries[0]!.id, true)
  expect(open).toMatchObject({ kind: 'websocket', status: 101, state: 'open', path: '/live' })
  expect(open.stream).toMatchObject([
    { direction: 'in', kind: 'text', text: 'hello', size: 5 },
    { direction: 'out', kind: 'text', text: 'hello', size: 5 },
    { direction: 'in', kind: 'binary', size: 3 },
    { direction: 'out', kind: 'binary', size: 3 },
  ])
  socket.close(1000, 'bye')
  const entry = await lastEntry(shown)
  expect(entry.stream.at(-1)).toMatchObject({ kind: 'close', text: '1000 bye' })
  expect(entry.not_repeatable).toContain('WebSocket')
})

it('server-sent events: each at once, while the response goes on', async () => {
  const gate = Promise.withResolvers<void>()
  const http = await serving(
    createServer(async (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write('event: tick\nid: 1\ndata: one\n\n')
      await gate.promise
      response.end('data: two\n\n')
    }),
  )
  const shown = await inspected({ http })
  const answer = await visit(relay, shown.url, '/events')
  await once(answer, 'readable')
  const open = await shown.inspection.entry(shown.inspector.entries[0]!.id, true)
  expect(open).toMatchObject({ kind: 'events', state: 'open' })
  expect(open.stream).toMatchObject([
    { direction: 'out', kind: 'event', text: 'one', event: 'tick', event_id: '1' },
  ])
  gate.resolve()
  await text(answer)
  expect((await lastEntry(shown)).stream.map((message) => message.text)).toEqual(['one', 'two'])
})

it('gRPC: messages of both sides, and the status of the trailers', async () => {
  const server = await new EchoServer().start(false)
  ends.push(() => server.server.forceShutdown())
  const shown = await inspected({ http: `grpc://127.0.0.1:${server.port}` })
  await shown.inspector.useDescriptors(descriptorSet())
  const client = new EchoClient(relay.port, relay.ca, new URL(shown.url).host)
  ends.push(() => client.client.close())
  await client.unary(Buffer.from('12036f6e65', 'hex'))
  const entry = await lastEntry(shown)
  expect(entry).toMatchObject({
    kind: 'grpc',
    version: '2',
    grpc_status: 0,
    path: '/test.Echo/Unary',
    messages: 2,
  })
  expect(entry.stream).toMatchObject([
    { direction: 'in', kind: 'grpc', size: 5, compressed: false, protobuf: { type: 'test.Test2' } },
    { direction: 'out', kind: 'grpc', protobuf: { type: 'test.Test3' } },
  ])
  expect(JSON.parse(entry.stream[0]!.text)).toEqual({ b: 'one' })
  expect(entry.response!.trailers).toContainEqual({ name: 'grpc-status', value: '0' })
})

describe('who may not come in', () => {
  it('is not recorded, and neither is a password', async () => {
    const http = await serving(createServer((_request, response) => response.end('inside')))
    const shown = await inspected({ http, access: { password: 's3cret' } })
    expect((await visit(relay, shown.url)).statusCode).toBe(401)
    expect(shown.inspector.entries).toEqual([])
  })
})

it.each([{ tls: 443 }, { tcp: 22 }])('is refused for %j, whose requests are not seen', async (target) => {
  await expect(exposeAt(relay, { inspector: new Inspector(), ...target })).rejects.toThrow(
    'needs http, fetch or routes',
  )
})
