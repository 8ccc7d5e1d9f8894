// Protobuf by descriptors and by the numbers of fields. The bytes are those of the protobuf documentation's page "Encoding".

import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { detailOf } from '../../src/inspector/describe.ts'
import type { StreamMessage } from '../../src/inspector/entry.ts'
import { Descriptors } from '../../src/inspector/protobuf/descriptors.ts'
import { wireFields } from '../../src/inspector/protobuf/wire-fields.ts'
import { answer, content, entry } from './entries.ts'
import { descriptorSet } from './protobuf-set.ts'

const hex = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.from(text.replace(/\s/g, ''), 'hex'))

const A_150 = hex('08 96 01')
const B_TESTING = hex('12 07 74 65 73 74 69 6e 67')
const C_A_150 = hex('1a 03 08 96 01')
/** "hello", and 1, 2 and 3 in a packed field. */
const D_HELLO = hex('22 05 68 65 6c 6c 6f 2a 03 01 02 03')
const TYPE: [string, string] = ['Content-Type', 'application/x-protobuf']
const DECODING = { descriptors: [Descriptors.read(descriptorSet())] }

const linesOf = (bytes: Uint8Array): string => wireFields(bytes).lines.join('\n')

async function viewOf(bytes: Uint8Array<ArrayBuffer>, type: [string, string] = TYPE, url = '/hook') {
  const given = entry({ url: `https://a.example${url}`, request: content({ headers: [type], body: bytes }) })
  return (await detailOf(given, false, DECODING)).request.body.view
}

test.each([
  ['a varint', A_150, '1: 150'],
  ['a string', B_TESTING, '2: "testing"'],
  ['a message', C_A_150, '3 {\n  1: 150\n}'],
  ['a string and packed numbers', D_HELLO, '4: "hello"\n5: 0x010203'],
  ['a varint of ten bytes, -2', hex('08 fe ff ff ff ff ff ff ff ff 01'), '1: 18446744073709551614'],
  ['fixed numbers', hex('0d 00 00 80 3f 11 00 00 00 00 00 00 f0 3f'), '1: 0x3f800000\n2: 0x3ff0000000000000'],
  ['a group', hex('83 01 08 96 01 12 01 e9 84 01'), '16 {\n  1: 150\n  2: 0xe9\n}'],
  ['a text of two lines', hex('0a 05 61 62 0a 63 64'), '1: "ab\\ncd"'],
  ['nothing in a field', hex('0a 00'), '1: ""'],
])('without a descriptor: %s', (_what, bytes, text) => {
  expect(linesOf(bytes)).toBe(text)
  expect(wireFields(bytes).isWhole).toBe(true)
})

test('what is cut, and what is no message, shows the fields before', () => {
  expect(wireFields(hex('08 96 01 12 07 74 65'))).toEqual({ lines: ['1: 150'], isWhole: false })
  expect(wireFields(hex('08 96 01 0f'))).toEqual({ lines: ['1: 150'], isWhole: false })
  expect(wireFields(hex('08 96 01 0b 08 96'))).toEqual({ lines: ['1: 150'], isWhole: false })
})

test('deep and wide messages end at a bound', () => {
  let deep = hex('08 01')
  for (let depth = 0; depth < 5_000; depth += 1) {
    const { length } = deep
    deep = Uint8Array.from(Buffer.concat([Uint8Array.of(0x0a, (length & 0x7f) | 0x80, length >> 7), deep]))
  }
  expect(wireFields(deep).lines.length).toBeLessThan(100)
  const groups = new Uint8Array(200_000).fill(0x0b)
  expect(wireFields(groups)).toEqual({ lines: [], isWhole: false })
  const wide = Uint8Array.from(Buffer.alloc(1024 * 1024, hex('08 01')))
  const { lines, isWhole } = wireFields(wide)
  expect([lines.length, isWhole]).toEqual([5_000, false])
})

test('the type is that of the method, or of the media type', async () => {
  expect(await viewOf(B_TESTING, TYPE, '/twirp/test.Echo/Unary')).toEqual({
    kind: 'protobuf',
    type: 'test.Test2',
    text: '{\n  "b": "testing"\n}',
    cut: false,
  })
  for (const type of [
    'application/x-protobuf; proto=test.Test1',
    'application/vnd.google.protobuf;messageType="test.Test1"',
    'application/protobuf; charset=x; proto="test.Test1"',
  ])
    expect(await viewOf(A_150, ['content-type', type])).toMatchObject({ type: 'test.Test1' })
  expect(await viewOf(A_150)).toEqual({
    kind: 'protobuf',
    text: '1: 150',
    cut: false,
    problem: 'the type of the message is not known',
    types: ['test.Test1', 'test.Test2', 'test.Test3', 'test.Test4'],
  })
  expect(await viewOf(A_150, ['content-type', 'application/protobuf; proto=test.Test9'])).toMatchObject({
    problem: 'the descriptors do not have test.Test9',
  })
})

test('a person chooses the type where nothing says it', async () => {
  const request = content({ headers: [TYPE], body: A_150 })
  const decoding = { ...DECODING, messageType: 'test.Test1' }
  const { view } = (await detailOf(entry({ request }), false, decoding)).request.body
  expect(view).toMatchObject({ type: 'test.Test1', text: '{\n  "a": 150\n}' })
  expect((view as { types: string[] }).types).toHaveLength(4)
  const url = 'https://a.example/test.Echo/Same'
  const known = (await detailOf(entry({ request, url }), false, decoding)).request.body.view
  expect(known).toMatchObject({ type: 'test.Test4' })
  expect(known).not.toHaveProperty('types')
})

test('an answer has its own type, and names are those of the source', async () => {
  const given = entry({
    url: 'https://a.example/test.Echo/Unary',
    response: answer({ headers: [['content-type', 'application/proto']], body: C_A_150 }),
  })
  const { response } = await detailOf(given, false, DECODING)
  expect(response!.body.view).toMatchObject({ type: 'test.Test3', text: '{\n  "c": {\n    "a": 150\n  }\n}' })
  const nested = hex('32 07 22 05 68 65 6c 6c 6f')
  expect(await viewOf(nested, TYPE, '/test.Echo/Same')).toMatchObject({
    text: '{\n  "snake_case": [\n    {\n      "d": "hello"\n    }\n  ]\n}',
  })
})

test('fields that the descriptor does not have are shown with their place', async () => {
  const view = await viewOf(hex('32 02 48 07 4a 03 66 6f 6f'), TYPE, '/test.Echo/Same')
  expect(view).toMatchObject({ type: 'test.Test4' })
  expect((view as { text: string }).text).toMatch(/Not in the descriptor:\n9: "foo"\nsnakeCase\[0\]\.9: 7$/)
})

test('another message than that of the descriptor is shown by numbers, with the reason', async () => {
  const view = await viewOf(hex('12 03 ff ff ff'), TYPE, '/test.Echo/Unary')
  expect(view).toMatchObject({ kind: 'protobuf', text: '2: 0xffffff' })
  expect((view as { problem: string }).problem).toMatch(/^test\.Test2: /)
  const cut = await viewOf(hex('12 09 66 6f'), TYPE, '/test.Echo/Unary')
  expect(cut).toMatchObject({ kind: 'hex' })
})

test('compressed contents and those that were cut', async () => {
  const request = {
    ...content({ headers: [TYPE, ['content-encoding', 'gzip']] }),
    body: Uint8Array.from(gzipSync(B_TESTING)),
  }
  const url = 'https://a.example/test.Echo/Unary'
  const whole = entry({ url, request: { ...request, bodyBytes: request.body.length } })
  expect((await detailOf(whole, false, DECODING)).request.body.view).toMatchObject({ type: 'test.Test2' })
  const cut = entry({ url, request: content({ headers: [TYPE], body: A_150, bodyBytes: 9_000 }) })
  expect((await detailOf(cut, false, DECODING)).request.body.view).toEqual({
    kind: 'protobuf',
    text: '1: 150',
    cut: true,
    problem: 'test.Test2: only the beginning of the message was kept',
  })
})

test('a message that stands for far more memory is bounded', async () => {
  const many = (bytes: number) => Uint8Array.from(Buffer.alloc(bytes, hex('32 00')))
  const view = await viewOf(many(256 * 1024), TYPE, '/test.Echo/Same')
  expect(view).toMatchObject({ type: 'test.Test4', cut: true })
  expect((view as { text: string }).text.length).toBeLessThanOrEqual(512 * 1024)
  expect(await viewOf(many(256 * 1024 + 2), TYPE, '/test.Echo/Same')).toMatchObject({
    cut: true,
    problem: 'test.Test4: the message is too long',
  })
})

function call(messages: Partial<StreamMessage>[], type = 'application/grpc', path = '/test.Echo/Unary') {
  return entry({
    kind: 'grpc',
    method: 'POST',
    url: `https://a.example${path}`,
    request: content({
      headers: [
        ['content-type', type],
        ['grpc-encoding', 'gzip'],
      ],
    }),
    response: {
      ...answer({}),
      trailers: [
        ['grpc-status', '5'],
        ['grpc-message', 'no%20such%20item'],
      ],
    },
    messages: messages.map((message) => ({
      direction: 'in',
      kind: 'grpc',
      at: 1,
      data: new Uint8Array(0),
      size: message.data?.length ?? 0,
      ...message,
    })),
  })
}

test('messages of gRPC: both sides by the method, compressed ones too, with status and trailers', async () => {
  const given = call([
    { data: B_TESTING },
    { data: Uint8Array.from(gzipSync(B_TESTING)), isCompressed: true },
    { data: C_A_150, direction: 'out' },
    { direction: 'out' },
  ])
  const detail = await detailOf(given, false, DECODING)
  expect(detail.stream.map(({ text, protobuf }) => [protobuf?.type, JSON.parse(text)])).toEqual([
    ['test.Test2', { b: 'testing' }],
    ['test.Test2', { b: 'testing' }],
    ['test.Test3', { c: { a: 150 } }],
    ['test.Test3', {}],
  ])
  expect(detail).toMatchObject({ grpc_status: 5, grpc_message: 'no such item' })
  expect(detail.response!.trailers).toMatchObject([{ name: 'grpc-status' }, { name: 'grpc-message' }])
  const [plain] = (await detailOf(given, false)).stream
  expect(plain).toMatchObject({ text: '2: "testing"', protobuf: {} })
})

test('a message of gRPC that is no protobuf, or in an unknown coding, is shown as its bytes', async () => {
  const json = await detailOf(call([{ data: B_TESTING }], 'application/grpc+json'), false, DECODING)
  expect(json.stream[0]).toMatchObject({ text: expect.stringMatching(/^00000000 {2}12 07/) })
  const broken = await detailOf(call([{ data: B_TESTING, isCompressed: true }]), false, DECODING)
  expect(broken.stream[0]).toMatchObject({ text: expect.stringMatching(/^00000000 {2}12 07/) })
})

test('of very many messages the newest are decoded', async () => {
  const data = Uint8Array.from(Buffer.concat([hex('12 80 80 01'), Buffer.alloc(16_384, 'a')]))
  const messages = Array.from({ length: 100 }, () => ({ data }))
  const { stream } = await detailOf(call(messages), false, DECODING)
  const decoded = stream.map(({ protobuf }) => protobuf !== undefined)
  expect(decoded.filter(Boolean).length).toBe(15)
  expect([decoded[0], decoded.at(-1)]).toEqual([false, true])
})

test.each([
  [
    'text',
    Uint8Array.from(Buffer.from('syntax = "proto3";')),
    /cannot be read as a FileDescriptorSet.*protoc/,
  ],
  ['nothing', new Uint8Array(0), /has no message types/],
])('refuses %s as descriptors', (_what, bytes, message) => {
  expect(() => Descriptors.read(bytes)).toThrow(message)
})
