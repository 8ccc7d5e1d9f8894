// `expose` beside HAProxy with what is long: events, polls, large bodies of known and unknown length, and those that are cut.
// `npm run nightly` sends 2 GiB and waits as long as proxies usually do; `npm test` sends 8 MiB.

import { once } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, test as every, expect, vi } from 'vitest'
import { listen } from '../../../sdk-core/test/support/socket-stream.ts'
import { findHaproxy, startHttpHaproxy } from '../../../tools/programs/haproxy.ts'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { TEST_TIMEOUT_MS } from '../../../tools/test-timeouts.ts'
import { httpTarget } from '../../src/target/http-target.ts'

const test = wholeOnly(every, 'depth')

vi.setConfig({ testTimeout: atDepth(15, 1) * TEST_TIMEOUT_MS, hookTimeout: TEST_TIMEOUT_MS })

const MIB = 1024 * 1024
const SIZE: number = atDepth(2048, 8) * MIB
/** Milliseconds for which a poll has no answer: below the 60 s after which HAProxy, as it is set here, gives up. */
const POLL_MS: number = atDepth(45_000, 100)
const EVENTS: number = atDepth(1000, 20)
const BLOCK: Buffer = Buffer.from(
  Uint8Array.from({ length: MIB }, (_, at) => (at * 31 + (at >> 8) * 7) & 0xff),
)

/**
 * What may differ, and why. Nothing else may: status, Content-Length, content, and whether an end is seen as a break.
 * - How a body of unknown length is framed, in chunks or to the end of the connection: RFC 9112 §6.1 leaves that to each hop.
 * - The limits of silence, which each proxy has of its own: HAProxy's are set to 60 s here.
 * - Of an answer that the target resets, how much of it arrives: TCP drops what a peer has not read yet. That it is a
 *   break must be seen at both.
 */
const UNCOMPARED_CONTENT = '/reset'

/** Content of `size` bytes, block by block as the reader takes it. */
function* contentOf(size: number): Generator<Buffer> {
  for (let left = size; left > 0; left -= MIB) yield left >= MIB ? BLOCK : BLOCK.subarray(0, left)
}

interface Content {
  size: number
  checksum: number
  isCut: boolean
}

async function readContent(message: IncomingMessage): Promise<Content> {
  const content = { size: 0, checksum: 0, isCut: false }
  try {
    for await (const bytes of message) {
      content.size += bytes.length
      content.checksum = crc32(bytes, content.checksum)
    }
  } catch {
    content.isCut = true
  }
  return content
}

/** Called by the target for each event, or poll, that it is about to send: it waits for the test. */
let turn: () => Promise<unknown> = async () => {}
/** What the target saw of the last upload. */
let uploaded = Promise.withResolvers<Content>()

const ANSWERS: Record<string, (request: IncomingMessage, response: ServerResponse) => unknown> = {
  '/known': (_, response) => {
    response.setHeader('content-length', SIZE)
    return pipeline(Readable.from(contentOf(SIZE)), response)
  },
  '/unknown': (_, response) => pipeline(Readable.from(contentOf(SIZE)), response),
  '/to-the-end': (_, response) => {
    response.useChunkedEncodingByDefault = false
    response.setHeader('connection', 'close')
    response.removeHeader('transfer-encoding')
    return pipeline(Readable.from(contentOf(SIZE)), response)
  },
  '/cut-known': (_, response) => {
    response.setHeader('content-length', SIZE)
    return cut(response, () => response.socket!.end())
  },
  '/cut-unknown': (_, response) => cut(response, () => response.socket!.end()),
  '/reset': (_, response) => {
    response.setHeader('content-length', SIZE)
    return cut(response, () => response.socket!.resetAndDestroy())
  },
  '/upload': async (message, response) => {
    const content = await readContent(message)
    uploaded.resolve(content)
    response.end(JSON.stringify([content, message.headers['content-length']]))
  },
  '/echo': (message, response) => pipeline(message, response),
  '/poll': async (_, response) => {
    await turn()
    response.end('news')
  },
  '/events': async (_, response) => {
    response.setHeader('content-type', 'text/event-stream')
    for (let event = 0; event < EVENTS; event++) {
      response.write(`data: ${event}\n\n`)
      await turn()
    }
    response.end()
  },
}

/** Sends half of the content, and then breaks off. */
async function cut(response: ServerResponse, breakOff: () => void): Promise<void> {
  for (const block of contentOf(SIZE / 2)) if (!response.write(block)) await once(response, 'drain')
  await new Promise<void>((resolve) => response.write(BLOCK.subarray(0, 1), () => resolve()))
  breakOff()
}

interface Sent {
  method?: string
  headers?: Record<string, string | number>
  body?: Iterable<Buffer>
}

/** Sends a request to a proxy. Resolves with the head of the answer. */
async function send(port: number, path: string, { body, ...options }: Sent = {}): Promise<IncomingMessage> {
  const agent = new Agent({ keepAlive: false })
  const host = { host: 'site.example', ...options.headers }
  const outgoing = request({ port, host: '127.0.0.1', path, agent, ...options, headers: host })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  if (body) pipeline(Readable.from(body), outgoing).catch(() => {})
  else outgoing.end()
  return (await answered)[0]
}

const isHere = findHaproxy() !== undefined

describe.skipIf(!isHere)('beside HAProxy', () => {
  let target: Server
  let site: Awaited<ReturnType<typeof listen>>
  let haproxy: Awaited<ReturnType<typeof startHttpHaproxy>>
  let ports: { haproxy: number; expose: number }

  beforeAll(async () => {
    target = createServer((message, response) => {
      message.on('error', () => {})
      Promise.resolve(ANSWERS[message.url!]!(message, response)).catch(() => {})
    }).listen(0, '127.0.0.1')
    // The bounds of Node's own server are not what is compared.
    Object.assign(target, { requestTimeout: 0, keepAliveTimeout: 0 })
    await once(target, 'listening')
    const { port } = target.address() as AddressInfo
    haproxy = await startHttpHaproxy(port)
    const fetch = httpTarget(new URL(`http://127.0.0.1:${port}`), { onError: () => {} })
    const canonicalUrl = 'https://site.example/'
    const isOwnHost = (host: string): boolean => host === 'site.example'
    site = await listen({ fetch, isOwnHost, canonicalUrl, onError: () => {} })
    ports = { haproxy: haproxy.port, expose: site.port }
  })
  afterAll(async () => {
    await haproxy?.stop()
    site?.server.close()
    target?.close()
    target?.closeAllConnections()
  })

  /** Expects the same of both, and returns it. */
  async function same<T>(look: (port: number) => Promise<T>): Promise<T> {
    const theirs = await look(ports.haproxy)
    const ours = await look(ports.expose)
    expect(ours).toEqual(theirs)
    return ours
  }

  test.each(['/known', '/unknown', '/to-the-end', '/cut-known', '/cut-unknown', '/reset'])(
    'a download: %s',
    async (path) => {
      const seen = await same(async (port) => {
        const answer = await send(port, path)
        const content = await readContent(answer)
        const compared = path === UNCOMPARED_CONTENT ? content.isCut : content
        return { status: answer.statusCode, length: answer.headers['content-length'], compared }
      })
      const isWhole = ['/known', '/unknown', '/to-the-end'].includes(path)
      expect(seen.status).toBe(200)
      if (path === UNCOMPARED_CONTENT) expect(seen.compared).toBe(true)
      else expect(seen.compared).toMatchObject({ size: isWhole ? SIZE : SIZE / 2 + 1, isCut: !isWhole })
    },
  )

  test.each<[string, Record<string, number>]>([
    ['known', { 'content-length': SIZE }],
    ['unknown', {}],
  ])('an upload of %s length', async (_, headers) => {
    const [content] = await same(async (port) => {
      const answer = await send(port, '/upload', { method: 'POST', headers, body: contentOf(SIZE) })
      return JSON.parse(Buffer.concat(await answer.toArray()).toString())
    })
    expect(content).toMatchObject({ size: SIZE, isCut: false })
  })

  test('an upload of unknown length that comes back while it is sent', async () => {
    const content = await same(async (port) =>
      readContent(await send(port, '/echo', { method: 'POST', body: contentOf(SIZE) })),
    )
    expect(content).toMatchObject({ size: SIZE, isCut: false })
  })

  test.each<[string, Record<string, number>]>([
    ['known', { 'content-length': SIZE }],
    ['unknown', {}],
  ])('an upload of %s length whose visitor leaves', async (_, headers) => {
    const isCut = await same(async (port) => {
      uploaded = Promise.withResolvers()
      const head = { host: 'site.example', ...headers }
      const outgoing = request({ port, host: '127.0.0.1', method: 'POST', path: '/upload', headers: head })
      outgoing.on('error', () => {})
      for (const block of contentOf(SIZE / 2)) if (!outgoing.write(block)) await once(outgoing, 'drain')
      outgoing.destroy()
      return (await uploaded.promise).isCut
    })
    expect(isCut).toBe(true)
  })

  test('events arrive one by one, each before the next is sent', async () => {
    const events = await same(async (port) => {
      let arrived = Promise.withResolvers<void>()
      turn = () => arrived.promise
      const answer = await send(port, '/events')
      let [text, count] = ['', 0]
      for await (const bytes of answer) {
        text += bytes
        // The target sends an event only after the one before has come here.
        const come = text.split('\n\n').length - 1
        if (come === count) continue
        expect(come).toBe(count + 1)
        count = come
        const before = arrived
        arrived = Promise.withResolvers()
        before.resolve()
      }
      return [answer.headers['content-type'], text]
    })
    expect(events[1]!.split('\n\n').length).toBe(EVENTS + 1)
  })

  test('a poll is answered when there is news', async () => {
    const answer = await same(async (port) => {
      turn = () => pause(POLL_MS)
      const answer = await send(port, '/poll')
      return [answer.statusCode, answer.headers['content-length'], (await readContent(answer)).size]
    })
    expect(answer).toEqual([200, '4', 4])
  })
})
