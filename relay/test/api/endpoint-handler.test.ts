// A table of endpoints says whether a body is JSON, bytes or a stream, how large it may be and how long it may take. One of
// each, on a real HTTPS server that is made of the relay's own router.

import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type AnswerEndpoint, createAnswer, routingOf } from '../../src/core/api/endpoint-handler.ts'
import { RequestBodies } from '../../src/core/api/endpoints/body-limits.ts'
import type { Endpoint } from '../../src/core/api/endpoints/endpoint.ts'
import { describeApi } from '../../src/core/api/endpoints/openapi.ts'
import type { BodyStream } from '../../src/core/api/http/body-stream.ts'
import { PIPELINED_REQUESTS_MAX } from '../../src/core/api/http/open-responses.ts'
import { RequestLog } from '../../src/core/api/http/request-log.ts'
import { createApiServer } from '../../src/core/api/http/server.ts'
import { certificatesOf } from '../../src/core/certificates/certificate-files.ts'
import { CertificateRotation } from '../../src/core/certificates/certificate-rotation.ts'
import { createCa, createLeaf } from '../../src/core/certificates/development-ca.ts'
import { ClientAddresses } from '../../src/core/client-address/client-addresses.ts'
import { TrustedProxies } from '../../src/core/client-address/trusted-proxies.ts'
import { named, z } from '../../src/core/config/schema.ts'
import { RelayError } from '../../src/core/errors.ts'
import { createLog } from '../../src/core/log/log.ts'
import { RelayCounters } from '../../src/core/metrics/relay-counters.ts'
import { unauthenticatedMemory } from '../../src/core/rate-limit/request-memory.ts'
import { ROOT_HOST } from '../support/relay.ts'

const MEBIBYTE = 1024 * 1024
const common = { summary: 'A test', auth: 'none', status: 200, errors: ['invalid_request'] } as const

interface Table {
  json: Endpoint<{ word: string }, object>
  raw: Endpoint<Buffer, object>
  stream: Endpoint<BodyStream, object>
}

const TABLE: Table = {
  json: {
    ...common,
    method: 'POST',
    path: '/json',
    body: {
      kind: 'json',
      schema: named('Word', z.object({ word: z.string() })),
      maxBytes: 20,
      deadlineMs: 300,
    },
  },
  raw: {
    ...common,
    method: 'POST',
    path: '/raw',
    body: { kind: 'raw', mediaType: 'application/octet-stream', maxBytes: 1000, deadlineMs: 600 },
  },
  stream: {
    ...common,
    method: 'PUT',
    path: '/stream',
    body: { kind: 'stream', mediaType: 'multipart/form-data', maxBytes: 24 * MEBIBYTE, deadlineMs: 5000 },
  },
}
type Kind = keyof Table
const KINDS = Object.keys(TABLE) as Kind[]

const memory = unauthenticatedMemory()
const handlers = {
  json: async (body: { word: string }): Promise<object> => body,
  raw: async (body: Buffer): Promise<object> => ({ size: body.length, memory: memory.total }),
  stream: readWhole as (body: BodyStream) => Promise<object>,
}
const handled = { ...handlers }

async function readWhole(body: BodyStream): Promise<object> {
  let size = 0
  for await (const chunk of body) size += chunk.length
  return { size }
}

let server: Server
let port: number
let ca: string
beforeAll(async () => {
  const authority = createCa(ROOT_HOST)
  const { chain, key } = createLeaf(authority, ROOT_HOST)
  const clientAddresses = new ClientAddresses(new TrustedProxies(''))
  const answer: AnswerEndpoint = createAnswer({
    clientAddresses,
    adminAuth: { require: () => 'ADMIN_TOKEN' },
    rateLimits: { charge: () => {} },
    bodies: new RequestBodies({} as never, memory),
  })
  const api = createApiServer({
    rootHost: ROOT_HOST,
    ownPorts: [443],
    certificates: new CertificateRotation(certificatesOf(ROOT_HOST, chain, key)),
    clientAddresses,
    routing: routingOf(TABLE, {
      json: answer(TABLE.json, ({ body }) => handled.json(body)),
      raw: answer(TABLE.raw, ({ body }) => handled.raw(body)),
      stream: answer(TABLE.stream, ({ body }) => handled.stream(body)),
    }),
    connect: { onTcpConnection: () => {}, underlyingSocketOf: () => undefined } as never,
    pages: () => {},
    observer: new RequestLog(new RelayCounters(), createLog('silent')),
    isClosing: () => false,
  })
  ca = authority.certificate
  server = createServer((socket) => api.emit('connection', socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as { port: number }).port
})
afterEach(() => void Object.assign(handled, handlers))
afterAll(() => void server.close())

/** A request whose head is sent, and the answer as it comes. */
async function begin(kind: Kind, fields: string): Promise<{ socket: TLSSocket; text: () => string }> {
  const { method, path } = TABLE[kind]
  const socket = tlsConnect({ host: '127.0.0.1', port, servername: ROOT_HOST, ca })
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${ROOT_HOST}\r\n${fields}\r\n\r\n`)
  return { socket, text: () => text }
}

const ended = async (socket: TLSSocket): Promise<void> => {
  if (!socket.closed) await once(socket, 'close')
}

async function send(kind: Kind, body: string | Buffer): Promise<string> {
  const { socket, text } = await begin(kind, `Content-Length: ${body.length}\r\nConnection: close`)
  socket.write(body)
  await ended(socket)
  return text()
}

const bytes = (size: number): Buffer => Buffer.alloc(size, 'x')
const word = (size: number): string => JSON.stringify({ word: 'x'.repeat(size - '{"word":""}'.length) })
const sized = (kind: Kind, size: number): string | Buffer => (kind === 'json' ? word(size) : bytes(size))
const maxBytesOf = (kind: Kind): number => TABLE[kind].body!.maxBytes

describe('each kind of body', () => {
  test('comes to its handler, and counts in memory while the handler has it', async () => {
    expect(await send('json', word(15))).toMatch(/^HTTP\/1\.1 200 .*\{"ok":true,"data":\{"word":"xxxx"\}\}$/s)
    expect(await send('raw', bytes(500))).toMatch(/"data":\{"size":500,"memory":[1-9]\d{2,}\}/)
    expect(await send('stream', bytes(500))).toContain('"data":{"size":500}')
    expect(memory.total).toBe(0)
  })

  test.each(KINDS)('%s: as large as its bound', async (kind) => {
    expect(await send(kind, sized(kind, maxBytesOf(kind)))).toMatch(/^HTTP\/1\.1 200 /)
  })

  test.each(KINDS)('%s: a byte more is refused by its length alone', async (kind) => {
    const { socket, text } = await begin(kind, `Content-Length: ${maxBytesOf(kind) + 1}`)
    await ended(socket)
    expect(text()).toMatch(/^HTTP\/1\.1 400 .*Connection: close.*invalid_request.*larger than/is)
  })

  test.each(KINDS)('%s: a byte more is refused where no length was said', async (kind) => {
    const { socket, text } = await begin(kind, 'Transfer-Encoding: chunked')
    const size = maxBytesOf(kind) + 1
    socket.write(`${size.toString(16)}\r\n`)
    socket.write(bytes(size))
    await ended(socket)
    expect(text()).toMatch(/^HTTP\/1\.1 400 .*larger than/s)
    expect(memory.total).toBe(0)
  })

  test.each(KINDS)('%s: has a deadline of its own', async (kind) => {
    const { deadlineMs } = TABLE[kind].body!
    const { socket, text } = await begin(kind, 'Content-Length: 10')
    const started = performance.now()
    socket.write('{')
    await ended(socket)
    const tookMs = performance.now() - started
    expect(text()).toMatch(/^HTTP\/1\.1 400 .*Connection: close.*took too long/is)
    expect(tookMs).toBeGreaterThan(deadlineMs - 50)
    expect(memory.total).toBe(0)
  })

  test.each(KINDS)('%s: a client that goes away leaves nothing behind', async (kind) => {
    const { socket } = await begin(kind, 'Content-Length: 10')
    socket.write('{')
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.destroy()
    await expect.poll(() => memory.total).toBe(0)
    expect(await send(kind, sized(kind, 15))).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('is not read for a handler that has none', () => {
    const without: Endpoint<undefined, object> = { ...common, method: 'GET', path: '/none' }
    expect(routingOf({ without }, { without: () => {} })).toMatchObject({
      '/none': { GET: expect.anything() },
    })
  })
})

describe('a stream', () => {
  test('tells its handler when the client goes away', async () => {
    const failure = Promise.withResolvers<unknown>()
    handled.stream = async (body) => await readWhole(body).catch((error) => failure.resolve(error) as never)
    const { socket } = await begin('stream', 'Content-Length: 10')
    socket.write('{')
    setTimeout(() => socket.destroy(), 50)
    const expected = { code: 'invalid_request', message: 'the body ended early' }
    expect(await failure.promise).toMatchObject(expected)
  })

  test('waits for its handler: what is not read is not taken from the client', async () => {
    const gate = Promise.withResolvers<void>()
    handled.stream = async (body) => {
      await gate.promise
      return await readWhole(body)
    }
    const { socket, text } = await begin('stream', `Content-Length: ${20 * MEBIBYTE}\r\nConnection: close`)
    socket.write(bytes(20 * MEBIBYTE))
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(socket.writableLength).toBeGreaterThan(0)
    gate.resolve()
    await ended(socket)
    expect(text()).toContain(`"size":${20 * MEBIBYTE}`)
  })

  test('that was read whole leaves the connection open for the next request', async () => {
    const { socket, text } = await begin('stream', 'Content-Length: 3')
    socket.write('abc')
    await expect.poll(text).toContain('"size":3')
    socket.write(
      `PUT /stream HTTP/1.1\r\nHost: ${ROOT_HOST}\r\nContent-Length: 4\r\nConnection: close\r\n\r\nabcd`,
    )
    await ended(socket)
    expect(text()).toContain('"size":4')
  })

  test.each<[string, (body: BodyStream) => Promise<object>, RegExp]>([
    ['is left alone', async () => ({}), /^HTTP\/1\.1 200 /],
    [
      'is left in the middle',
      async (body) => {
        for await (const chunk of body) return { first: chunk.length > 0 }
        return {}
      },
      /^HTTP\/1\.1 200 .*"first":true/s,
    ],
    [
      'is refused by its handler',
      async () => {
        throw new RelayError('feature_unavailable', 'no room')
      },
      /^HTTP\/1\.1 503 .*no room/s,
    ],
  ])('that %s is answered, and the connection ends', async (_what, handler, answer) => {
    handled.stream = handler
    const { socket, text } = await begin('stream', 'Content-Length: 100000')
    socket.write(bytes(1000))
    await ended(socket)
    expect(text()).toMatch(answer)
    expect(text()).toMatch(/^Connection: close/im)
  })
})

describe('requests one behind the other (protocol §2.1.6)', () => {
  const requests = (count: number): string =>
    `POST /json HTTP/1.1\r\nHost: ${ROOT_HOST}\r\nContent-Length: 12\r\n\r\n{"word":"x"}`.repeat(count)

  async function beginAll(count: number): Promise<{ socket: TLSSocket; text: () => string }> {
    const socket = tlsConnect({ host: '127.0.0.1', port, servername: ROOT_HOST, ca })
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    socket.write(requests(count))
    return { socket, text: () => text }
  }

  test('are all answered, and each begins after the response to the one before it', async () => {
    let begun = 0
    let running = 0
    let mostAtOnce = 0
    handled.json = async (body) => {
      begun += 1
      running += 1
      mostAtOnce = Math.max(mostAtOnce, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return { ...body, number: begun }
    }
    const { socket, text } = await beginAll(PIPELINED_REQUESTS_MAX)
    await expect.poll(text).toContain(`"number":${PIPELINED_REQUESTS_MAX}}`)
    socket.destroy()
    const numbers = Array.from({ length: PIPELINED_REQUESTS_MAX }, (_, index) => `${index + 1}`)
    expect([...text().matchAll(/"number":(\d+)/g)].map(([, number]) => number)).toEqual(numbers)
    expect([begun, mostAtOnce]).toEqual([PIPELINED_REQUESTS_MAX, 1])
  })

  test('are no more than one to the handlers when there are too many, and the connection is cut', async () => {
    let begun = 0
    handled.json = async (body) => {
      begun += 1
      return body
    }
    const { socket } = await beginAll(4 * PIPELINED_REQUESTS_MAX)
    await ended(socket)
    expect(await send('json', word(15))).toMatch(/^HTTP\/1\.1 200 /)
    // The last one is that of the other connection.
    expect(begun).toBeLessThanOrEqual(2)
  })
})

test('the description of the API has each with its media type and size', () => {
  const { paths } = describeApi('https://relay.example', TABLE) as never as {
    paths: Record<string, Record<string, { requestBody: object }>>
  }
  expect(paths['/json']?.post?.requestBody).toMatchObject({ content: { 'application/json': {} } })
  expect(paths['/raw']?.post?.requestBody).toMatchObject({
    description: 'At most 1000 bytes.',
    content: { 'application/octet-stream': {} },
  })
  expect(paths['/stream']?.put?.requestBody).toMatchObject({ content: { 'multipart/form-data': {} } })
})
