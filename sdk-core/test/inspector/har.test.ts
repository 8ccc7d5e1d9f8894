// HTTP Archives: valid by the schema of HAR 1.2 as another tool has it, and read again as they were written.

import { gzipSync } from 'node:zlib'
// @ts-expect-error: it has no types
import validator from 'har-validator'
import { expect, test } from 'vitest'
import type { Entry, StreamMessage } from '../../src/inspector/entry.ts'
import { toHar } from '../../src/inspector/har.ts'
import { importHar } from '../../src/inspector/har-import.ts'
import { Inspector } from '../../src/inspector/inspector.ts'
import { answer, bytes, content, entry } from './entries.ts'

const message = (direction: 'in' | 'out', kind: 'text' | 'binary', data: string): StreamMessage => ({
  direction,
  kind,
  at: 5,
  size: data.length,
  data: bytes(data),
})

const ENTRIES: Entry[] = [
  entry({
    method: 'POST',
    url: 'https://site.example/a?token=s3cret&b=%C3%A9',
    version: '2',
    request: content({
      headers: [
        ['content-type', 'application/json'],
        ['cookie', 'a=1; b=2'],
        ['authorization', 'Bearer s3cret'],
      ],
      body: '{"a":1}',
    }),
    response: answer({
      status: 302,
      headers: [
        ['location', '/next'],
        ['set-cookie', 'sid=s3cret; Path=/'],
        ['content-type', 'text/plain'],
      ],
      body: 'moved',
    }),
  }),
  entry({ request: content({ body: Uint8Array.of(0, 255), headers: [] }), method: 'PUT' }),
  entry({
    response: answer({
      headers: [
        ['content-encoding', 'gzip'],
        ['content-type', 'text/html'],
      ],
      body: new Uint8Array(gzipSync('<p>'.repeat(100))),
    }),
  }),
  entry({
    response: undefined,
    times: { sent: undefined, head: undefined, end: 3 },
    error: 'gone',
    version: undefined,
  }),
  entry({ response: answer({ body: 'beginning', bodyBytes: 1_000 }) }),
  entry({ kind: 'websocket', messages: [message('in', 'text', 'hello'), message('out', 'binary', '\x01')] }),
]

test('an archive is valid by har-validator', async () => {
  const har = await toHar(ENTRIES, true)
  await expect(validator.har(JSON.parse(JSON.stringify(har)))).resolves.toBeTruthy()
  const empty = await toHar([], false)
  await expect(validator.har(empty)).resolves.toBeTruthy()
})

test('secrets are in it only when they are asked for', async () => {
  expect(JSON.stringify(await toHar(ENTRIES, false))).not.toContain('s3cret')
  expect(JSON.stringify(await toHar(ENTRIES, true))).toContain('s3cret')
})

test('what was written is read again', async () => {
  const inspector = new Inspector()
  const har = JSON.parse(JSON.stringify(await toHar(ENTRIES, true)))
  expect(importHar(inspector, har)).toEqual({ imported: ENTRIES.length, skipped: 0 })
  const read = [...inspector.entries].reverse()
  const parts = ({ method, url, version, kind, at, request }: Entry) => ({
    method,
    url,
    version,
    kind,
    at,
    body: [...request.body],
    headers: request.headers.map(([name, value]) => [name, value]),
  })
  expect(read.map(parts)).toEqual(ENTRIES.map(parts))
  expect(read.every(({ isImported }) => isImported)).toBe(true)
  expect(read[0]!.response).toMatchObject({ status: 302, bodyBytes: 5 })
  expect(new TextDecoder().decode(read[2]!.response!.body)).toBe('<p>'.repeat(100))
  expect(read[3]).toMatchObject({ response: undefined, error: 'gone' })
  expect(read[5]!.messages).toMatchObject([
    { direction: 'in', kind: 'text', size: 5 },
    { direction: 'out', kind: 'binary', size: 1 },
  ])
})

test.each([undefined, {}, { log: {} }, { log: { entries: 'many' } }, []])('%j is no archive', (har) => {
  expect(() => importHar(new Inspector(), har)).toThrow('no HTTP Archive')
})

test('entries that are not understood are skipped, and what is too long is cut', () => {
  const inspector = new Inspector({ maxBodyBytes: 10 })
  const request = {
    method: 'GET',
    url: 'https://a.example/',
    headers: [],
    postData: { text: 'x'.repeat(50) },
  }
  const startedDateTime = '2026-01-02T00:00:00Z'
  const entries = [
    null,
    { request },
    { startedDateTime, request: { ...request, url: 'javascript:alert(1)' } },
    { startedDateTime, request: { ...request, method: 'GET /\r\n' } },
    {
      startedDateTime,
      request,
      response: { status: 'x' },
      time: -1,
      timings: 'none',
      _webSocketMessages: [1, {}],
    },
  ]
  expect(importHar(inspector, { log: { entries } })).toEqual({ imported: 1, skipped: 4 })
  expect(inspector.entries[0]).toMatchObject({
    request: { bodyBytes: 50, body: bytes('x'.repeat(10)) },
    messages: [],
  })
})

test('of contents that are too long together, an archive has the first, and the sizes of others', async () => {
  const response = answer({
    headers: [['content-encoding', 'gzip']],
    body: new Uint8Array(gzipSync('x'.repeat(1000))),
  })
  const { log } = await toHar([entry({ response }), entry({ response })], false, 1000)
  expect(log.entries.map((each) => each.response.content)).toMatchObject([
    { size: 1000, text: 'x'.repeat(1000) },
    { size: 1000, text: '' },
  ])
})
