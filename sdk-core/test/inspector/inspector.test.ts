// The inspector: what it keeps, how much at most, and that the handler notices nothing of it.

import { expect, test, vi } from 'vitest'
import type { FetchHandler } from '../../src/exchange/fetch-handler.ts'
import { inspect } from '../../src/inspector/inspector.ts'
import { ask, info } from '../handlers/ask.ts'
import { converse } from '../http1/visitor.ts'

const post = (body: BodyInit): RequestInit => Object.assign({ method: 'POST', body }, { duplex: 'half' })
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const echo: FetchHandler = async (request) => new Response(await request.text(), { status: 201 })

test('keeps requests and responses with fields, contents and times, the newest first', async () => {
  const inspector = inspect(echo)
  const answer = await ask(inspector.fetch, '/a?b', { ...post('hello'), headers: { 'x-a': '1' } })
  expect(inspector.entries[0]!.times.end).toBeUndefined()
  expect(await answer.text()).toBe('hello')
  await ask(inspector.fetch, '/second')
  const [second, first] = inspector.entries
  expect(second).toMatchObject({
    method: 'GET',
    url: 'https://site.example/second',
    request: { bodyBytes: 0 },
  })
  expect(first).toMatchObject({
    method: 'POST',
    url: 'https://site.example/a?b',
    version: '1.1',
    kind: 'http',
    request: { bodyBytes: 5 },
    response: { status: 201, bodyBytes: 5 },
  })
  expect(first!.request.headers).toContainEqual(['x-a', '1'])
  expect(first!.response!.headers).toContainEqual(['content-type', 'text/plain;charset=UTF-8'])
  expect(text(first!.request.body)).toBe('hello')
  expect(text(first!.response!.body)).toBe('hello')
  expect(first!.times.end).toBeGreaterThanOrEqual(first!.times.head!)
})

test('the handler gets the request as it came, with fields that a page may not set', async () => {
  const inspector = inspect(async (request, given) => {
    expect(given).toBe(info)
    expect(request.signal.aborted).toBe(false)
    return new Response(`${request.headers.get('cookie')} ${await request.clone().text()}`)
  })
  const headers = new Headers({ cookie: 'a=b' })
  const request = new Request('https://site.example/', post('hello'))
  Object.defineProperty(request, 'headers', { value: headers })
  expect(await (await inspector.fetch(request, info)).text()).toBe('a=b hello')
})

test('an exchange that goes on after its entry was dropped takes no memory', async () => {
  const inspector = inspect((request) => new Response(request.body), { limit: 1 })
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const visitor = writable.getWriter()
  const answering = ask(inspector.fetch, '/slow', post(readable))
  const [slow] = inspector.entries
  void visitor.write(new Uint8Array(1000))
  await vi.waitFor(() => expect(slow!.request.body).toHaveLength(1000))
  await ask(inspector.fetch, '/next')
  expect(slow!.request.body).toHaveLength(0)
  void visitor.write(new Uint8Array(1000))
  void visitor.close()
  expect((await (await answering).bytes()).length).toBe(2000)
  expect([slow!.request.body.length, slow!.response!.body.length]).toEqual([0, 0])
})

test('limit: no more entries than asked for, and one that was dropped does not come back', async () => {
  const gate = Promise.withResolvers<Response>()
  const inspector = inspect((request) => (request.url.endsWith('/slow') ? gate.promise : new Response()), {
    limit: 2,
  })
  const slow = ask(inspector.fetch, '/slow')
  for (const path of ['/1', '/2', '/3']) await ask(inspector.fetch, path)
  gate.resolve(new Response())
  await slow
  expect(inspector.entries.map(({ url }) => new URL(url).pathname)).toEqual(['/3', '/2'])
  inspector.clear()
  expect(inspector.entries).toEqual([])
})

test('maxBodyBytes: the beginning is kept, the handler gets all', async () => {
  const inspector = inspect(echo, { maxBodyBytes: 4 })
  expect(await (await ask(inspector.fetch, '/', post('12345678'))).text()).toBe('12345678')
  const { id, request, response } = inspector.entries[0]!
  expect([text(request.body), request.bodyBytes]).toEqual(['1234', 8])
  expect([text(response!.body), response!.bodyBytes]).toEqual(['1234', 8])
  await expect(inspector.replay(id)).rejects.toThrow('only 4 bytes')
})

test('maxBodyBytes: an endless body is read ahead no further', async () => {
  let pulled = 0
  const endless = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(1000))
      },
    },
    { highWaterMark: 0 },
  )
  const inspector = inspect(() => new Response('not read'), { maxBodyBytes: 5000 })
  await ask(inspector.fetch, '/', post(endless))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(pulled).toBeLessThanOrEqual(6)
  expect(inspector.entries[0]!.request.body).toHaveLength(5000)
})

test('a body is kept though the handler answers without reading it', async () => {
  const inspector = inspect(() => new Response('thanks'))
  const answer = await converse(
    'POST /hook HTTP/1.1\r\nHost: site.example\r\nContent-Length: 5\r\n\r\nhello',
    inspector.fetch,
  )
  expect(answer).toMatch(/thanks$/)
  expect(text(inspector.entries[0]!.request.body)).toBe('hello')
})

test('a body that breaks off: the entry says what came, and the handler sees it fail', async () => {
  const broken = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(3))
    },
    pull(controller) {
      controller.error(new Error('gone'))
    },
  })
  const inspector = inspect(echo)
  await expect(ask(inspector.fetch, '/', post(broken))).rejects.toThrow('gone')
  expect(inspector.entries[0]).toMatchObject({
    request: { bodyBytes: 3 },
    response: { status: 500 },
    error: 'gone',
  })
})

test('a handler that fails is a 500 here, and its error goes on', async () => {
  const inspector = inspect(() => {
    throw new Error('mine')
  })
  await expect(ask(inspector.fetch, '/')).rejects.toThrow('mine')
  expect(inspector.entries[0]).toMatchObject({ response: { status: 500 }, error: 'mine' })
})

test.each(['GET', 'PURGE', 'TRACK'])('%s with content is seen, and replayed', async (method) => {
  const seen: string[] = []
  const inspector = inspect(async (request) => {
    seen.push(`${request.method} ${await request.text()}`)
    return new Response('ok')
  })
  const head = `${method} / HTTP/1.1\r\nHost: site.example\r\nContent-Length: 5\r\n\r\n`
  expect(await converse(`${head}hello`, inspector.fetch)).toMatch(/ok$/)
  const [entry] = inspector.entries
  await inspector.replay(entry!.id)
  expect(seen).toEqual([`${method} hello`, `${method} hello`])
})

test('a replay is the same request again, as a new entry', async () => {
  const handler = vi.fn(echo)
  const inspector = inspect(handler)
  await ask(inspector.fetch, '/a?b', { ...post('hello'), headers: { 'x-a': '1' } })
  const [entry] = inspector.entries
  const replayed = await inspector.replay(entry!.id)
  expect(inspector.entries[0]).toBe(replayed)
  expect(replayed).toMatchObject({ method: 'POST', url: entry!.url, replayOf: entry!.id })
  expect([replayed.response!.status, text(replayed.response!.body)]).toEqual([201, 'hello'])
  expect(replayed.request.headers).toEqual(expect.arrayContaining([...entry!.request.headers]))
  expect(handler.mock.calls[1]![1].canonicalUrl).toBe(info.canonicalUrl)
  await expect(inspector.replay('other-1')).rejects.toThrow('no entry')
})

test('tells of changes, once for all of a turn', async () => {
  const gate = Promise.withResolvers<Response>()
  const inspector = inspect(() => gate.promise)
  const seen: (number | undefined)[] = []
  inspector.addEventListener('change', () => seen.push(inspector.entries[0]?.response?.status))
  const asked = ask(inspector.fetch, '/')
  await Promise.resolve()
  gate.resolve(new Response())
  await asked
  inspector.clear()
  await Promise.resolve()
  expect(seen).toEqual([undefined, 200, undefined])
})

test.each([
  { limit: 0 },
  { limit: 1.5 },
  { maxBytes: -1 },
  { maxBodyBytes: -1 },
  { maxBodyBytes: Number.NaN },
])('%j is refused', (options) => {
  expect(() => inspect(echo, options)).toThrow('whole number')
})
