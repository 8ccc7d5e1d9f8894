// Answers of an HTTP Archive: which one a request gets, and what a file that anybody wrote cannot do.

import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { DIRECT } from '../../src/exchange/direct.ts'
import { HarRecorder } from '../../src/recording/har-recorder.ts'
import { replayHar } from '../../src/recording/replay-har.ts'
import { info } from '../handlers/ask.ts'

const validator: { har(value: unknown): Promise<unknown> } = createRequire(import.meta.url)('har-validator')

interface Made {
  method?: string
  path?: string
  status?: number
  text?: string
  encoding?: string
  size?: number
  headers?: [string, string][]
  at?: number
}

function harOf(...entries: Made[]): object {
  return {
    log: {
      version: '1.2',
      entries: entries.map(
        ({ method = 'GET', path = '/', status = 200, text = '', encoding, size, headers = [], at = 0 }) => ({
          startedDateTime: new Date(at).toISOString(),
          time: 1,
          request: { method, url: `https://old.example${path}`, headers: [] },
          response: {
            ...{ status, statusText: '' },
            headers: headers.map(([name, value]) => ({ name, value })),
            content: { text, encoding, size: size ?? text.length },
          },
        }),
      ),
    },
  }
}

async function answers(har: unknown, ...asked: string[]): Promise<[number, string][]> {
  const handler = replayHar(har)
  const found: [number, string][] = []
  for (const one of asked) {
    const [method, path] = one.split(' ')
    const response = await handler(new Request(`https://site.example${path}`, { method: method! }))
    found.push([response.status, await response.text()])
  }
  return found
}

it('come by method, path and query, in the order of the requests, the last one again', async () => {
  const har = harOf(
    { path: '/a', text: 'second', at: 2 },
    { path: '/a', text: 'first', at: 1 },
    { path: '/a?b=1', text: 'query' },
    { path: '/a', method: 'POST', status: 201, text: 'posted' },
  )
  expect(
    await answers(har, 'GET /a', 'GET /a?b=1', 'POST /a', 'GET /a', 'GET /a', 'HEAD /a', 'GET /c'),
  ).toEqual([
    [200, 'first'],
    [200, 'query'],
    [201, 'posted'],
    [200, 'second'],
    [200, 'second'],
    [200, ''],
    [404, expect.stringContaining('no answer')],
  ])
})

it('have their fields, without those of the framing, of another coding, and masked ones', async () => {
  const headers: [string, string][] = [
    ['Content-Type', 'image/png'],
    ['Content-Encoding', 'gzip'],
    ['Content-Length', '999'],
    ['Transfer-Encoding', 'chunked'],
    ['Set-Cookie', 'a=••••••'],
    ['Set-Cookie', 'b=2'],
    ['X-Bad', 'a\r\nX-Injected: 1'],
    ['Bad Name', '1'],
    [':status', '200'],
  ]
  const handler = replayHar(harOf({ headers, text: 'aGk=', encoding: 'base64', size: 2 }))
  const response = await handler(new Request('https://site.example/'))
  expect([...response.headers]).toEqual([
    ['content-type', 'image/png'],
    ['set-cookie', 'b=2'],
  ])
  expect(await response.text()).toBe('hi')
})

it.each([
  [{ status: 0 }, 502],
  [{ status: 101 }, 502],
  [{ status: 999 }, 502],
  [{ text: 'cut', size: 1000 }, 502],
  [{ status: 204 }, 204],
  [{ status: 304, text: 'no content has a place here' }, 304],
])('of %o are %i', async (made, status) => {
  expect((await answers(harOf(made), 'GET /'))[0]![0]).toBe(status)
})

it.each([['{'], ['[]'], [{ log: {} }]])('refuses %o', (har) => {
  expect(() => replayHar(har)).toThrow(/HTTP Archive/)
})

it('passes over entries that it does not understand', async () => {
  const har = { log: { entries: [null, 1, { request: { method: 'G T', url: 'no' } }, { request: {} }] } }
  expect((await answers(har, 'GET /'))[0]![0]).toBe(404)
})

it('records what has ended, with secrets masked, and the same answers come from that', async () => {
  const entries: string[] = []
  const recorder = new HarRecorder(async (entry) => void entries.push(entry))
  let count = 0
  const handler = recorder.wrap(() => {
    count += 1
    return new Response(`answer ${count}`, {
      status: 201,
      headers: { 'Set-Cookie': 'sid=secret', 'X-A': 'b' },
    })
  })
  expect(handler[DIRECT]).toBeUndefined()
  for (const path of ['/a?token=hush', '/a?token=other', '/b']) {
    const headers = { Authorization: 'Bearer hush' }
    await (await handler(new Request(`https://site.example${path}`, { headers }), info)).text()
  }
  await recorder.flushed()
  const text = entries.join()
  expect(entries).toHaveLength(3)
  expect(text).not.toMatch(/hush|secret/)
  const creator = { name: 'svc', version: '1' }
  const har = { log: { version: '1.2', creator, entries: entries.map((entry) => JSON.parse(entry)) } }
  await expect(validator.har(har)).resolves.toBeDefined()
  expect(await answers(har, 'GET /a?token=hush', 'GET /a?token=any', 'GET /b')).toEqual([
    [201, 'answer 1'],
    [201, 'answer 2'],
    [201, 'answer 3'],
  ])
})
