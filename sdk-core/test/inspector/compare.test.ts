// The differences of two answers.

import { describe, expect, test } from 'vitest'
import { compared } from '../../src/inspector/compare.ts'
import type { Entry, StreamMessage } from '../../src/inspector/entry.ts'
import { Descriptors } from '../../src/inspector/protobuf/descriptors.ts'
import { answer, content, entry, type Given } from './entries.ts'
import { descriptorSet } from './protobuf-set.ts'

const compare = (one: Given & { status?: number }, other: Given & { status?: number }, isUnmasked = false) =>
  compared(entry({ response: answer(one) }), entry({ response: answer(other) }), isUnmasked)

test('status, fields and lines of JSON, which is indented', async () => {
  const json: [string, string] = ['content-type', 'application/json']
  const one = {
    status: 200,
    headers: [json, ['etag', '1'], ['date', 'a']] as [string, string][],
    body: '{"a":1,"b":2}',
  }
  const other = {
    status: 500,
    headers: [json, ['x-new', '2'], ['date', 'b']] as [string, string][],
    body: '{"a":1,"c":3}',
  }
  expect(await compare(one, other)).toEqual({
    status: [200, 500],
    headers: [
      { name: 'etag', one: '1', other: undefined },
      { name: 'x-new', one: undefined, other: '2' },
    ],
    lines: [
      { kind: 'same', text: '{' },
      { kind: 'same', text: '  "a": 1,' },
      { kind: 'removed', text: '  "b": 2' },
      { kind: 'added', text: '  "c": 3' },
      { kind: 'same', text: '}' },
    ],
    cut: false,
  })
})

test('a secret that differs is said to differ, and not shown', async () => {
  const one = { headers: [['set-cookie', 'sid=one']] as [string, string][] }
  const other = { headers: [['set-cookie', 'sid=two']] as [string, string][] }
  expect((await compare(one, other)).headers).toEqual([
    { name: 'set-cookie', one: 'sid=••••••', other: 'sid=••••••' },
  ])
  expect((await compare(one, other, true)).headers).toMatchObject([{ one: 'sid=one', other: 'sid=two' }])
})

test('long contents are compared in part, and one that has no answer with nothing', async () => {
  const lines = (word: string): string =>
    Array.from({ length: 5_000 }, (_, index) => `${word} ${index}`).join('\n')
  const { cut, lines: found } = await compare({ body: lines('a') }, { body: lines('b') })
  expect([cut, found.length]).toEqual([true, 2_000])
  const none = await compared(
    entry({ response: undefined }),
    entry({ response: answer({ body: 'a' }) }),
    false,
  )
  expect(none).toMatchObject({ status: [undefined, 200], lines: [{ kind: 'added', text: 'a' }] })
})

/** The messages of the protobuf documentation's page "Encoding": `test.Test3` with `c.a` = 150, and 149. */
const C_A_150 = Uint8Array.of(0x1a, 3, 8, 0x96, 1)
const C_A_149 = Uint8Array.of(0x1a, 3, 8, 0x95, 1)
const DECODING = { descriptors: [Descriptors.read(descriptorSet())] }
const DIFFERENT = [
  { kind: 'removed', text: '    "a": 150' },
  { kind: 'added', text: '    "a": 149' },
]

describe('protobuf is compared as its meaning', () => {
  const protobuf = (body: Uint8Array<ArrayBuffer>, type = 'application/x-protobuf; messageType=test.Test3') =>
    entry({ response: answer({ headers: [['content-type', type]], body }) })
  const linesOf = async (
    one: Entry,
    other: Entry,
    decoding?: () => typeof DECODING & { messageType?: string },
  ) => (await compared(one, other, false, decoding)).lines

  test('by the descriptors of its type, as the answer names it, or as a person chose it', async () => {
    const named = await linesOf(protobuf(C_A_150), protobuf(C_A_149), () => DECODING)
    expect(named.filter(({ kind }) => kind !== 'same')).toEqual(DIFFERENT)
    const unnamed = [C_A_150, C_A_149].map((body) => protobuf(body, 'application/protobuf'))
    const chosen = await linesOf(unnamed[0]!, unnamed[1]!, () => ({ ...DECODING, messageType: 'test.Test3' }))
    expect(chosen).toEqual(named)
  })

  test('by the numbers of fields without descriptors', async () => {
    expect(await linesOf(protobuf(C_A_150), protobuf(C_A_149))).toEqual([
      { kind: 'same', text: '3 {' },
      { kind: 'removed', text: '  1: 150' },
      { kind: 'added', text: '  1: 149' },
      { kind: 'same', text: '}' },
    ])
  })

  test('what is no protobuf stays bytes', async () => {
    const lines = await linesOf(protobuf(Uint8Array.of(0xff)), protobuf(C_A_150), () => DECODING)
    expect(lines[0]).toEqual({ kind: 'removed', text: expect.stringContaining('ff') })
    expect(lines.at(-1)).toMatchObject({ kind: 'added' })
  })

  test('answers of gRPC by message, and questions do not count', async () => {
    const message = (data: Uint8Array<ArrayBuffer>, direction: 'in' | 'out'): StreamMessage => ({
      direction,
      kind: 'grpc',
      at: 0,
      data,
      size: data.length,
      event: undefined,
      eventId: undefined,
      isCompressed: false,
    })
    const call = (answers: Uint8Array<ArrayBuffer>[]) =>
      entry({
        kind: 'grpc',
        url: 'https://site.example/test.Echo/Unary',
        request: content({ headers: [['content-type', 'application/grpc']], bodyBytes: 9 }),
        response: answer({ headers: [['content-type', 'application/grpc']], bodyBytes: 9 }),
        messages: [message(Uint8Array.of(1, 2), 'in'), ...answers.map((data) => message(data, 'out'))],
      })
    const lines = await linesOf(call([C_A_150, C_A_150]), call([C_A_150, C_A_149]), () => DECODING)
    expect(lines.filter(({ kind }) => kind !== 'same')).toEqual(DIFFERENT)
  })
})
