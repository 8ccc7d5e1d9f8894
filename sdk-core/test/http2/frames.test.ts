// The frame layer, RFC 9113 §3.4, §4 and §6: what each rule answers when a visitor breaks it.

import { describe, expect, test } from 'vitest'
import { FRAME_BYTES } from '../../src/http2/limits.ts'
import { endOf, Visitor } from './visitor.ts'
import {
  ACK,
  block,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  GET,
  GOAWAY,
  get,
  HEADERS,
  PADDED,
  PING,
  PREFACE,
  PRIORITY,
  PUSH_PROMISE,
  ping,
  post,
  RST_STREAM,
  reset,
  SETTINGS,
  setting,
  settings,
  uint32,
  WHOLE,
  WINDOW_UPDATE,
  windowUpdate,
} from './wire.ts'

const PRIORITY_FLAG = 0x20
const BLOCK = block(GET)

describe('§3.4 the preface', () => {
  test('the server’s SETTINGS come first, unasked', async () => {
    const first = await new Visitor().frame()
    expect(first?.payload.toString('hex')).toBe(
      // at most 128 streams, windows of 256 KiB, header lists of 64 KiB, extended CONNECT, no priorities
      '000300000080' + '000400040000' + '000600010000' + '000800000001' + '000900000001',
    )
  })

  test.each([
    ['HTTP/1.1', [Buffer.from('GET / HTTP/1.1\r\nHost: site.example\r\n\r\n')]],
    ['other octets at its end', [PREFACE.slice(0, 23), Buffer.from('\r')]],
    ['another frame than SETTINGS', [PREFACE, ping()]],
    ['an acknowledgment', [PREFACE, frame(SETTINGS, ACK, 0)]],
  ])('%s is no preface', async (_, bytes) => {
    const visitor = await new Visitor().send(...bytes)
    expect((await visitor.until('end')).at(-2)).toBe('GOAWAY 0 PROTOCOL_ERROR')
    expect(visitor.requests).toHaveLength(0)
  })

  test('octet by octet it is one, and so is what follows', async () => {
    const visitor = new Visitor()
    for (const octet of Buffer.concat([PREFACE, settings(), get(1)])) await visitor.send(Uint8Array.of(octet))
    expect((await visitor.response(1)).body).toBe('ok')
  })
})

describe('what ends the connection', () => {
  test.each<[string, Buffer[], string]>([
    [
      '§4.2 a frame of more than 16 KiB',
      [frame(DATA, 0, 1, Buffer.alloc(FRAME_BYTES + 1))],
      'FRAME_SIZE_ERROR',
    ],
    ['§5.1 DATA on an idle stream', [frame(DATA, 0, 1, 'a')], 'PROTOCOL_ERROR'],
    ['§5.1 RST_STREAM on an idle stream', [reset(1)], 'PROTOCOL_ERROR'],
    ['§5.1 WINDOW_UPDATE on an idle stream', [windowUpdate(1, 1)], 'PROTOCOL_ERROR'],
    ['§5.1.1 an even stream', [get(2)], 'PROTOCOL_ERROR'],
    ['§6.1 DATA on stream 0', [frame(DATA, 0, 0, 'a')], 'PROTOCOL_ERROR'],
    ['§6.1 padding as long as the frame', [frame(DATA, PADDED, 1, [1])], 'PROTOCOL_ERROR'],
    ['§6.1 no room for the pad length', [frame(DATA, PADDED, 1)], 'FRAME_SIZE_ERROR'],
    ['§6.2 HEADERS on stream 0', [frame(HEADERS, WHOLE, 0, BLOCK)], 'PROTOCOL_ERROR'],
    [
      '§6.2 padding as long as the frame',
      [frame(HEADERS, WHOLE | PADDED, 1, [9, ...BLOCK.subarray(0, 8)])],
      'PROTOCOL_ERROR',
    ],
    [
      '§6.2 no room for the priority',
      [frame(HEADERS, WHOLE | PRIORITY_FLAG, 1, [0, 0, 0, 0])],
      'FRAME_SIZE_ERROR',
    ],
    ['§6.3 PRIORITY on stream 0', [frame(PRIORITY, 0, 0, [0, 0, 0, 3, 0])], 'PROTOCOL_ERROR'],
    ['§6.4 RST_STREAM on stream 0', [reset(0)], 'PROTOCOL_ERROR'],
    ['§6.4 RST_STREAM of 3 octets', [frame(RST_STREAM, 0, 1, [0, 0, 0])], 'FRAME_SIZE_ERROR'],
    ['§6.5 SETTINGS on a stream', [frame(SETTINGS, 0, 1)], 'PROTOCOL_ERROR'],
    ['§6.5 SETTINGS of 5 octets', [frame(SETTINGS, 0, 0, [0, 0, 0, 0, 0])], 'FRAME_SIZE_ERROR'],
    ['§6.5 an acknowledgment with settings', [frame(SETTINGS, ACK, 0, setting(1, 1))], 'FRAME_SIZE_ERROR'],
    ['§6.5.2 ENABLE_PUSH of 2', [settings([2, 2])], 'PROTOCOL_ERROR'],
    ['§6.5.2 INITIAL_WINDOW_SIZE of 2^31', [settings([4, 2 ** 31])], 'FLOW_CONTROL_ERROR'],
    ['§6.5.2 MAX_FRAME_SIZE below 2^14', [settings([5, 2 ** 14 - 1])], 'PROTOCOL_ERROR'],
    ['§6.5.2 MAX_FRAME_SIZE of 2^24', [settings([5, 2 ** 24])], 'PROTOCOL_ERROR'],
    ['§6.6 PUSH_PROMISE', [frame(PUSH_PROMISE, END_HEADERS, 1, [0, 0, 0, 2])], 'PROTOCOL_ERROR'],
    ['§6.7 PING on a stream', [frame(PING, 0, 1, '12345678')], 'PROTOCOL_ERROR'],
    ['§6.7 PING of 6 octets', [ping('123456')], 'FRAME_SIZE_ERROR'],
    ['§6.8 GOAWAY on a stream', [frame(GOAWAY, 0, 1, Buffer.alloc(8))], 'PROTOCOL_ERROR'],
    ['§6.8 GOAWAY of 7 octets', [frame(GOAWAY, 0, 0, Buffer.alloc(7))], 'FRAME_SIZE_ERROR'],
    ['§6.9 WINDOW_UPDATE of 3 octets', [frame(WINDOW_UPDATE, 0, 0, [0, 0, 0])], 'FRAME_SIZE_ERROR'],
    ['§6.9 WINDOW_UPDATE by nothing', [windowUpdate(0, 0)], 'PROTOCOL_ERROR'],
    ['§6.9.1 a window of more than 2^31-1', [windowUpdate(0, 2 ** 31 - 1)], 'FLOW_CONTROL_ERROR'],
    ['§6.10 CONTINUATION without HEADERS', [frame(CONTINUATION, END_HEADERS, 1, BLOCK)], 'PROTOCOL_ERROR'],
    [
      '§6.10 CONTINUATION of another stream',
      [frame(HEADERS, 1, 1, BLOCK), frame(CONTINUATION, END_HEADERS, 3)],
      'PROTOCOL_ERROR',
    ],
    ['§6.10 another frame in a header block', [frame(HEADERS, 1, 1, BLOCK), ping()], 'PROTOCOL_ERROR'],
    ['§4.3 a header block that cannot be decoded', [frame(HEADERS, WHOLE, 1, [0x80])], 'COMPRESSION_ERROR'],
  ])('%s', async (_, frames, code) => {
    expect(await endOf(...frames)).toMatch(new RegExp(`^GOAWAY \\d ${code}$`))
  })
})

describe('what ends a stream, and nothing else', () => {
  test.each<[string, Buffer[], string]>([
    ['§6.3 PRIORITY of 4 octets', [frame(PRIORITY, 0, 1, [0, 0, 0, 3])], 'FRAME_SIZE_ERROR'],
    ['§5.3 PRIORITY of a stream below itself', [frame(PRIORITY, 0, 1, [0, 0, 0, 1, 0])], 'PROTOCOL_ERROR'],
    [
      '§5.3 HEADERS of a stream below itself',
      [frame(HEADERS, WHOLE | PRIORITY_FLAG, 1, [0, 0, 0, 1, 0, ...BLOCK])],
      'PROTOCOL_ERROR',
    ],
    ['§6.9 WINDOW_UPDATE by nothing', [post(1), windowUpdate(1, 0)], 'PROTOCOL_ERROR'],
    ['§6.9.1 a window of more than 2^31-1', [post(1), windowUpdate(1, 2 ** 31 - 1)], 'FLOW_CONTROL_ERROR'],
    ['§5.1 DATA behind the end', [get(1), frame(DATA, 0, 1, 'a')], 'STREAM_CLOSED'],
    ['§5.1 HEADERS behind the end', [get(1), frame(HEADERS, WHOLE, 1, BLOCK)], 'STREAM_CLOSED'],
  ])('%s', async (_, frames, code) => {
    const visitor = await Visitor.open((request) =>
      request.url.endsWith('/3') ? new Response('ok') : new Promise(() => {}),
    )
    await visitor.send(...frames)
    expect(await visitor.next()).toBe(`RST_STREAM 1 ${code}`)
    await visitor.send(get(3, '/3'))
    expect((await visitor.response(3)).body).toBe('ok')
  })
})

describe('§5.1 a stream that is over', () => {
  test('WINDOW_UPDATE, RST_STREAM and PRIORITY on it mean nothing', async () => {
    const visitor = await Visitor.open()
    await visitor.send(get(1))
    await visitor.response(1)
    await visitor.send(windowUpdate(1, 1), reset(1), frame(PRIORITY, 0, 1, [0, 0, 0, 3, 0]), ping())
    expect(await visitor.next()).toBe('PING ack')
  })

  test.each([
    ['DATA', frame(DATA, 0, 1, 'a')],
    ['HEADERS', frame(HEADERS, WHOLE, 1, BLOCK)],
  ])('%s on it ends the connection', async (_, bytes) => {
    const visitor = await Visitor.open()
    await visitor.send(get(1))
    await visitor.response(1)
    await visitor.send(bytes)
    expect(await visitor.next()).toBe('GOAWAY 1 STREAM_CLOSED')
  })

  test('unless we ended it: then they are late, and their headers are decoded all the same', async () => {
    const visitor = await Visitor.open((request) => new Response(request.headers.get('x-name') ?? 'early'))
    await visitor.send(post(1))
    expect((await visitor.until(/RST_STREAM/)).at(-1)).toBe('RST_STREAM 1 NO_ERROR')
    const indexed = Buffer.concat([
      Buffer.from([0x40, 6]),
      Buffer.from('x-name'),
      Buffer.from([4]),
      Buffer.from('late'),
    ])
    await visitor.send(frame(DATA, 0, 1, 'late'), frame(HEADERS, WHOLE, 1, indexed))
    await visitor.send(frame(HEADERS, WHOLE, 3, Buffer.concat([BLOCK, Buffer.from([0xbe])])))
    const skipped = await visitor.response(3)
    expect(skipped.body).toBe('late')
  })

  test('§5.1.1 a number that was skipped can not be used later', async () => {
    const visitor = await Visitor.open()
    await visitor.send(get(5))
    await visitor.response(5)
    await visitor.send(get(3))
    expect(await visitor.next()).toBe('GOAWAY 5 PROTOCOL_ERROR')
  })
})

test('§5.5 unknown frames, flags and settings are ignored', async () => {
  const visitor = await Visitor.open()
  await visitor.send(frame(0xfa, 0xff, 7, 'what'), frame(PING, 0xfe, 0, '12345678'), settings([0xfa, 1]))
  expect([await visitor.next(), await visitor.next()]).toEqual(['PING ack', 'SETTINGS ack'])
})

test('§6.7 PING is answered with what it had', async () => {
  const visitor = await Visitor.open()
  await visitor.send(ping('abcdefgh'))
  expect((await visitor.frame())?.payload.toString()).toBe('abcdefgh')
})

test('§6.1, §6.2 padding and priority are taken off', async () => {
  const visitor = await Visitor.open(async (request) => new Response(await request.text()))
  const head = block([...GET.slice(1), [':method', 'POST']])
  const padded = [2, 0, 0, 0, 0, 7, ...head, 0, 0]
  await visitor.send(frame(HEADERS, END_HEADERS | PADDED | PRIORITY_FLAG, 1, padded))
  await visitor.send(frame(DATA, PADDED | END_STREAM, 1, [3, 0x68, 0x69, 0, 0, 0]))
  expect((await visitor.response(1)).body).toBe('hi')
})

test('§6.10 a header block in pieces, also empty ones', async () => {
  const visitor = await Visitor.open()
  await visitor.send(frame(HEADERS, END_STREAM, 1, BLOCK.subarray(0, 3)), frame(CONTINUATION, 0, 1))
  await visitor.send(frame(CONTINUATION, END_HEADERS, 1, BLOCK.subarray(3)))
  expect((await visitor.response(1)).status).toBe('200')
})

test('§6.10 a header block of ours that is larger than a frame', async () => {
  const visitor = await Visitor.open(
    () => new Response('ok', { headers: { 'x-large': 'v'.repeat(2 * FRAME_BYTES) } }),
  )
  await visitor.send(get(1))
  const pieces = [await visitor.frame(), await visitor.frame(), await visitor.frame()]
  expect(pieces.map((piece) => [piece?.type, piece?.flags])).toEqual([
    [HEADERS, 0],
    [CONTINUATION, 0],
    [CONTINUATION, END_HEADERS],
  ])
})

test('§6.9.2 uint32 settings reach up to 2^31-1', async () => {
  const visitor = await Visitor.open()
  await visitor.send(
    frame(SETTINGS, 0, 0, Buffer.concat([setting(4, 2 ** 31 - 1), Buffer.from([0, 1]), uint32(2 ** 32 - 1)])),
    get(1),
  )
  expect(await visitor.next()).toBe('SETTINGS ack')
  expect((await visitor.response(1)).body).toBe('ok')
})
