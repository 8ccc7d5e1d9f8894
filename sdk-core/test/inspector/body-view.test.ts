// Contents as plain data: by their type, decompressed, and within bounds.

import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { bodyView } from '../../src/inspector/body-view.ts'
import { decodedBody } from '../../src/inspector/decoded-body.ts'
import { formPartsOf } from '../../src/inspector/form-parts.ts'
import type { BodyView } from '../../src/inspector/messages.ts'
import { bytes, content, type Given } from './entries.ts'

async function view(given: Given & { type?: string }): Promise<BodyView> {
  const { type, headers = [] } = given
  const made = content({
    ...given,
    headers: [...headers, ...(type ? [['content-type', type] as [string, string]] : [])],
  })
  return bodyView(made, await decodedBody(made))
}

test.each<[string, Given & { type?: string }, Partial<BodyView>]>([
  ['nothing', {}, { kind: 'none' }],
  [
    'JSON',
    { type: 'application/json', body: '{"a":[1]}' },
    { kind: 'json', text: '{\n  "a": [\n    1\n  ]\n}' },
  ],
  ['problem+json', { type: 'application/problem+json', body: '[]' }, { kind: 'json', text: '[]' }],
  ['JSON as text', { type: 'text/plain', body: '{"a":1}' }, { kind: 'json' }],
  ['broken JSON', { type: 'application/json', body: '{"a":' }, { kind: 'text', text: '{"a":' }],
  [
    'a form',
    { type: 'application/x-www-form-urlencoded', body: 'a=1&b=%C3%A9+x' },
    {
      kind: 'form',
      fields: [
        { name: 'a', value: '1' },
        { name: 'b', value: 'é x' },
      ],
    },
  ],
  [
    'an image',
    { type: 'image/png', body: new Uint8Array([1, 2]) },
    { kind: 'image', type: 'image/png', cut: false },
  ],
  ['text', { type: 'text/html', body: '<p>' }, { kind: 'text', text: '<p>', cut: false }],
  [
    'bytes',
    { body: new Uint8Array([0, 65]) },
    { kind: 'hex', text: expect.stringMatching(/^0{8} {2}00 41 +\.A$/) },
  ],
  ['the beginning of a text', { body: bytes('é').slice(0, 1), bodyBytes: 2 }, { kind: 'text', cut: true }],
  [
    'GraphQL',
    {
      type: 'application/json',
      body: '{"query":"mutation Add($a: Int) { add(a: $a) }","variables":{"a":1}}',
    },
    {
      kind: 'graphql',
      operations: [
        {
          operation: 'mutation',
          name: 'Add',
          query: 'mutation Add($a: Int) { add(a: $a) }',
          variables: '{\n  "a": 1\n}',
        },
      ],
    },
  ],
  [
    'a chosen operation',
    { type: 'application/json', body: '{"query":"query A {a} query B {b}","operationName":"B"}' },
    { kind: 'graphql', operations: [{ operation: 'query', name: 'B', query: 'query A {a} query B {b}' }] },
  ],
  [
    'a JSON value with a text "query"',
    { type: 'application/json', body: '{"query":"shoes"}' },
    { kind: 'json' },
  ],
])('%s', async (_, given, expected) => expect(await view(given)).toMatchObject(expected))

test('a compressed content is shown without its compression, with both sizes', async () => {
  const plain = '{"a":1}'.padEnd(1_000)
  const body = new Uint8Array(gzipSync(plain))
  const made = content({
    headers: [
      ['content-encoding', 'gzip'],
      ['content-type', 'application/json'],
    ],
    body,
  })
  const decoded = await decodedBody(made)
  expect(decoded).toMatchObject({ length: 1_000, isDecoded: true })
  expect(bodyView(made, decoded)).toMatchObject({ kind: 'json', cut: false })
})

test('the beginning of a compressed content is shown, and what is none stays as it is', async () => {
  const body = new Uint8Array(gzipSync(crypto.getRandomValues(new Uint8Array(30_000)).toString()))
  const half = content({
    headers: [['content-encoding', 'gzip']],
    body: body.slice(0, 20_000),
    bodyBytes: body.length,
  })
  expect(await decodedBody(half)).toMatchObject({ length: undefined, isDecoded: true })
  const lie = content({ headers: [['content-encoding', 'gzip']], body: 'no gzip' })
  expect(await view({ headers: [['content-encoding', 'gzip']], body: 'no gzip' })).toMatchObject({
    kind: 'hex',
  })
  expect(await decodedBody(lie)).toMatchObject({ isDecoded: false })
})

test.each([
  ['deep', '['.repeat(200_000) + ']'.repeat(200_000)],
  ['wide at some depth', `${'['.repeat(900)}${'1,'.repeat(100_000)}1${']'.repeat(900)}`],
])('JSON that is %s is shown as it came', async (_, body) => {
  const shown = await view({ type: 'application/json', body })
  expect(shown).toEqual({ kind: 'json', text: body.slice(0, 512 * 1024), cut: false })
})

test('JSON with brackets in texts is indented', async () => {
  const value = { a: `${'['.repeat(5000)}"\\`, b: 1 }
  const shown = await view({ type: 'application/json', body: JSON.stringify(value) })
  expect(shown).toMatchObject({ kind: 'json', text: JSON.stringify(value, null, 2) })
})

wholeOnly(test, 'depth')('a bomb of 66 MB is not kept', async () => {
  const body = new Uint8Array(gzipSync(new Uint8Array(66 * 1024 * 1024)))
  const decoded = await decodedBody(content({ headers: [['content-encoding', 'gzip']], body }), 1_000)
  expect(decoded.bytes).toHaveLength(1_000)
  expect(decoded.length).toBeUndefined()
})

test('a bomb is decompressed no further than asked for', async () => {
  const bomb = content({
    headers: [['content-encoding', 'gzip']],
    body: new Uint8Array(gzipSync(new Uint8Array(8 * 1024 * 1024))),
  })
  expect(await decodedBody(bomb)).toMatchObject({ length: 8 * 1024 * 1024 })
  const { bytes: searched, length } = await decodedBody(bomb, 1000, 1000)
  expect([searched.length, length]).toEqual([1000, undefined])
})

test('multipart: fields as texts, files with name, type and size', async () => {
  const form =
    '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b\r\nContent-Disposition: form-data; name="f"; filename="x.png"\r\nContent-Type: image/png\r\n\r\n\x01\x02\r\n--b--'
  const parts = formPartsOf('multipart/form-data; boundary=b')!
  parts.add(bytes(form))
  const made = { ...content({ body: form }), parts: parts.parts }
  expect(bodyView(made, await decodedBody(made))).toEqual({
    kind: 'multipart',
    parts: [
      { name: 'a', file_name: undefined, type: undefined, size: 1, text: '1', cut: false },
      { name: 'f', file_name: 'x.png', type: 'image/png', size: 2, cut: false },
    ],
    cut: false,
  })
})
