// Responses that cannot be meant: one that was used before, and content that `fetch` has decoded. The owner learns what to do.

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import { Visitor } from '../http1/visitor.ts'

const GET = 'GET / HTTP/1.1\r\nHost: site.example\r\n\r\n'
const HEAD = GET.replace('GET', 'HEAD')
const TEXT = 'a text that is long enough to be known as one, and not as compressed bytes'
const CODINGS = { gzip: gzipSync(TEXT), br: brotliCompressSync(TEXT), zstd: zstdCompressSync(TEXT) }

describe('a Response that was used', () => {
  const used = [new TypeError('The Response was already used: return a clone')]

  test.each([
    ['a GET', GET],
    ['a HEAD', HEAD],
  ])('by %s is an error', async (_, request) => {
    const kept = new Response('hello')
    const visitor = await new Visitor(() => kept).send(request)
    await visitor.receive(request === GET ? 'hello' : '\r\n\r\n')
    await visitor.send(GET)
    expect(await visitor.receive('Internal Server Error', 2)).toMatch(/^HTTP\/1\.1 500 /)
    expect(visitor.errors).toEqual(used)
  })

  test('by the handler itself is an error', async () => {
    const visitor = await new Visitor(async () => {
      const response = new Response('hello')
      await response.text()
      return response
    }).send(GET)
    await visitor.receive('Internal Server Error', 2)
    expect(visitor.errors).toEqual(used)
  })

  test('and clones of a kept one, or one without a body, are not', async () => {
    const [kept, empty] = [new Response('hello'), new Response(null, { status: 204 })]
    const visitor = await new Visitor((request) => (request.method === 'GET' ? kept.clone() : empty)).send(
      GET,
      GET,
    )
    await visitor.receive('hello', 2)
    await visitor.send(GET.replace('GET', 'PUT'), GET.replace('GET', 'PUT'))
    await visitor.receive('204', 2)
    expect(visitor.errors).toEqual([])
  })
})

describe('content that fetch has decoded', () => {
  let server: Server
  let origin: string
  beforeAll(async () => {
    server = createServer((request, response) => {
      const coding = request.url!.slice(1) as keyof typeof CODINGS
      response.writeHead(200, { 'Content-Encoding': coding })
      response.end(CODINGS[coding])
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => void server.close())

  const answerOf = async (fetch: FetchHandler, until: string): Promise<[string, unknown[]]> => {
    const visitor = await new Visitor(fetch).send(GET)
    return [await visitor.receive(until), visitor.errors]
  }

  test.each(['gzip', 'br', 'zstd'] as const)('gets a hint where a copy still says %s', async (coding) => {
    const copy: FetchHandler = async () => {
      const fetched = await fetch(`${origin}/${coding}`)
      return new Response(fetched.body, fetched)
    }
    const [answer, errors] = await answerOf(copy, 'Error')
    expect(answer).toMatch(/^HTTP\/1\.1 500 /)
    expect(errors).toMatchObject([
      { message: expect.stringMatching(/^The content is not .*delete Content-Encoding/) },
    ])
  })

  test('is sent without the field where the handler returns the response of fetch', async () => {
    const [answer, errors] = await answerOf(() => fetch(`${origin}/gzip`), TEXT)
    expect(answer).not.toMatch(/content-encoding/)
    expect(errors).toEqual([])
  })

  test.each(Object.entries(CODINGS))('and content in %s is sent as it is', async (coding, bytes) => {
    const headers = { 'Content-Encoding': coding }
    const body = new ReadableStream({
      async start(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1))
        for (const byte of bytes.subarray(0, 3)) controller.enqueue(Uint8Array.of(byte))
        controller.enqueue(Uint8Array.from(bytes.subarray(3)))
        controller.close()
      },
    })
    for (const content of [Uint8Array.from(bytes), body]) {
      const [answer, errors] = await answerOf(() => new Response(content, { headers }), '\r\n\r\n')
      expect(answer).toContain(`content-encoding: ${coding}\r\n`)
      expect(errors).toEqual([])
    }
  })
})
