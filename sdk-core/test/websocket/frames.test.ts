// Framing from the visitor, RFC 6455 §5: literal frames, and the cases that the Autobahn suite numbers 1 to 6 and 9.

import { describe, expect, test } from 'vitest'
import type { VisitorSocket } from '../../src/websocket/visitor-socket.ts'
import { bytes, Client, type Frame, frame, status, utf8 } from './client.ts'

const TEXT = 1
const BINARY = 2
const CLOSE = 8
const PING = 9
const PONG = 10

const echo = (socket: VisitorSocket): void => {
  socket.onmessage = ({ data }) => socket.send(data)
}
const DONE = frame(CLOSE, status(1000))

/** What the server, which echoes, says to `frames` and a Close frame behind them. */
async function said(...frames: Uint8Array[]): Promise<string[]> {
  const client = await Client.open(echo)
  await client.send(...frames, DONE)
  const answers = await client.rest()
  const last = answers.pop()
  expect(last).toEqual({ opcode: CLOSE, payload: status(1000) })
  return answers.map(({ opcode, payload }) => `${opcode} ${payload}`)
}

/** The code in the server's Close frame, which is all that it says to `frames`. */
async function closedWith(...frames: Uint8Array[]): Promise<number | undefined> {
  const client = await Client.open(echo, { maxMessageBytes: 1000 })
  await client.send(...frames)
  const answers: Frame[] = await client.rest()
  expect(answers.map(({ opcode }) => opcode)).toEqual([CLOSE])
  expect(client.events).toEqual(['open', expect.stringMatching(/^error [a-z0-9_]+$/), 'close 1006 '])
  return answers[0]?.payload.readUInt16BE(0)
}

describe('§5.7 examples', () => {
  test('a masked text message', async () => {
    const hello = bytes(0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58)
    expect(frame(TEXT, 'Hello')).toEqual(Buffer.from(hello))
    expect(await said(hello)).toEqual(['1 Hello'])
  })

  test('a masked Pong is not answered, a Ping with the same bytes', async () => {
    expect(await said(bytes(0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58))).toEqual([])
    expect(await said(frame(PING, 'Hello'))).toEqual(['10 Hello'])
  })

  test('what the server sends is not masked', async () => {
    const client = await Client.open((socket) => {
      socket.onopen = () => {
        socket.send('Hello')
        socket.send(new Uint8Array(256))
        socket.send(new Uint8Array(65536).buffer)
      }
    })
    for (let i = 0; i < 3; i++) await client.receive()
    const writes = client.visitor.server.writes.slice(1).map((write) => [...write.subarray(0, 10)])
    expect(writes[0]).toEqual([0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f])
    expect(writes[1]?.slice(0, 5)).toEqual([0x82, 0x7e, 0x01, 0x00, 0])
    expect(writes[2]).toEqual([0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0])
  })
})

describe('§5.2 length', () => {
  test.each([0, 1, 125, 126, 127, 128, 65535, 65536, 200_000])(
    '%i bytes, as text and binary',
    async (length) => {
      const client = await Client.open(echo)
      for (const opcode of [TEXT, BINARY]) {
        const payload = new Uint8Array(length).fill(0x2a)
        client.send(frame(opcode, payload))
        expect(await client.receive()).toEqual({ opcode, payload: Buffer.from(payload) })
      }
    },
  )

  test.each([
    ['125 in 16 bits', bytes(0x82, 0xfe, 0, 125, 0, 0, 0, 0)],
    ['65535 in 64 bits', bytes(0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0)],
    ['the sign bit', bytes(0x82, 0xff, 0x80, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)],
  ])('1002 %s', async (_, sent) => {
    expect(await closedWith(sent)).toBe(1002)
  })

  test('1009 an announced length above the limit, before any of it comes', async () => {
    expect(
      await closedWith(bytes(0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)),
    ).toBe(1009)
    expect(await closedWith(frame(BINARY, new Uint8Array(1001)).subarray(0, 8))).toBe(1009)
  })

  test('1009 fragments that are too much together; the limit itself is fine', async () => {
    const half = new Uint8Array(500)
    const last = (length: number): Uint8Array => frame(0, new Uint8Array(length))
    expect(await closedWith(frame(BINARY, half, { fin: false }), last(501))).toBe(1009)
    const client = await Client.open(echo, { maxMessageBytes: 1000 })
    await client.send(frame(BINARY, half, { fin: false }), last(500))
    expect((await client.receive())?.payload).toHaveLength(1000)
  })

  test('the limit is 16 MiB unless the handler says otherwise', async () => {
    const client = await Client.open()
    await client.send(bytes(0x82, 0xff, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0))
    expect(await client.receive()).toEqual({ opcode: CLOSE, payload: status(1009) })
  })
})

describe('§5.2 bits that are against the rules', () => {
  test.each([1, 2, 3, 4, 5, 6, 7])('1002 RSV %i', async (rsv) => {
    expect(await closedWith(frame(TEXT, 'a', { rsv }))).toBe(1002)
    expect(await closedWith(frame(PING, '', { rsv }))).toBe(1002)
  })

  test.each([3, 4, 5, 6, 7, 11, 12, 13, 14, 15])('1002 opcode %i', async (opcode) => {
    expect(await closedWith(frame(opcode, 'a'))).toBe(1002)
  })

  test.each([0, TEXT, BINARY, CLOSE, PING, PONG])('§5.1 1002 opcode %i without a mask', async (opcode) => {
    expect(await closedWith(frame(opcode, '', { masked: false }))).toBe(1002)
  })

  test('what came before is answered first, what follows is not looked at', async () => {
    const client = await Client.open(echo)
    await client.send(frame(TEXT, 'before'), frame(TEXT, 'bad', { rsv: 4 }), frame(TEXT, 'after'))
    const answers = await client.rest()
    expect(answers.map(({ opcode, payload }) => `${opcode} ${payload.toString('latin1')}`)).toEqual([
      '1 before',
      '8 \x03\xea',
    ])
    expect(client.events).toEqual(['open', 'before', 'error reserved_bits', 'close 1006 '])
  })
})

describe('§5.5 control frames', () => {
  test('125 bytes are taken, 126 are 1002', async () => {
    const payload = utf8('p'.repeat(125))
    expect(await said(frame(PING, payload))).toEqual([`10 ${'p'.repeat(125)}`])
    for (const opcode of [CLOSE, PING, PONG])
      expect(await closedWith(frame(opcode, new Uint8Array(126)))).toBe(1002)
  })

  test.each([CLOSE, PING, PONG])('1002 opcode %i in fragments', async (opcode) => {
    expect(await closedWith(frame(opcode, 'a', { fin: false }))).toBe(1002)
  })

  test('§5.5.3 a Ping is answered between the fragments of a message', async () => {
    const client = await Client.open(echo)
    await client.send(frame(TEXT, 'Hel', { fin: false }), frame(PING, 'now'))
    expect(await client.receive()).toEqual({ opcode: PONG, payload: Buffer.from('now') })
    await client.send(frame(0, 'lo'))
    expect(await client.receive()).toEqual({ opcode: TEXT, payload: Buffer.from('Hello') })
  })

  test('§5.5.3 of many Pings only the last is answered while the answer has to wait', async () => {
    const client = await Client.open()
    const flood = Buffer.concat(Array.from({ length: 10_000 }, (_, i) => frame(PING, `${i}`)))
    await client.send(flood, DONE)
    const answers = await client.rest()
    const pongs = answers.filter(({ opcode }) => opcode === PONG).map(({ payload }) => String(payload))
    expect(pongs.length).toBeLessThan(100)
    expect(pongs.at(-1)).toBe('9999')
  })
})

describe('§5.4 fragmentation', () => {
  test('empty fragments, single bytes, and text cut inside a character', async () => {
    expect(await said(frame(TEXT, '', { fin: false }), frame(0, '', { fin: false }), frame(0, ''))).toEqual([
      '1 ',
    ])
    const pieces = [...utf8('κόσμε 𝄞')].map((byte) => frame(0, bytes(byte), { fin: false }))
    expect(await said(frame(TEXT, '', { fin: false }), ...pieces, frame(0))).toEqual(['1 κόσμε 𝄞'])
  })

  test('1002 a continuation of nothing, also behind a message that ended', async () => {
    expect(await closedWith(frame(0, 'a'))).toBe(1002)
    const client = await Client.open()
    await client.send(frame(TEXT, 'a', { fin: false }), frame(0, 'b'), frame(0, 'c'))
    expect(await client.receive()).toEqual({ opcode: CLOSE, payload: status(1002) })
  })

  test('1002 a message inside a message', async () => {
    expect(await closedWith(frame(TEXT, 'a', { fin: false }), frame(TEXT, 'b'))).toBe(1002)
    expect(await closedWith(frame(BINARY, 'a', { fin: false }), frame(TEXT, 'b', { fin: false }))).toBe(1002)
  })

  test('any cut of the bytes gives the same', async () => {
    const whole = Buffer.concat([
      frame(TEXT, 'x'.repeat(130), { fin: false }),
      frame(PING, 'p'),
      frame(0, 'y'),
      frame(BINARY, new Uint8Array(3)),
    ])
    const expected = await said(whole)
    expect(await said(...[...whole].map((byte) => bytes(byte)))).toEqual(expected)
    for (let at = 1; at < whole.length; at += 7)
      expect(await said(whole.subarray(0, at), whole.subarray(at))).toEqual(expected)
  })
})

describe('§8.1 UTF-8', () => {
  test('what is valid, with a byte order mark and a noncharacter, arrives as it is', async () => {
    for (const text of ['\ufeffmark', '\uffff', '\u{10ffff}', '\0', 'κόσμε'])
      expect(await said(frame(TEXT, text))).toEqual([`1 ${text}`])
  })

  test.each([
    ['a lone continuation byte', [0x80]],
    ['a character that is cut off', [0xce, 0xba, 0xe1, 0xbd]],
    ['an overlong form', [0xc0, 0xaf]],
    ['an overlong form of three bytes', [0xe0, 0x80, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['0xFE', [0xfe]],
    ['five bytes', [0xf8, 0x88, 0x80, 0x80, 0x80]],
  ])('1007 %s, whole and in fragments', async (_, invalid) => {
    expect(await closedWith(frame(TEXT, bytes(...invalid)))).toBe(1007)
    const pieces = invalid.map((byte) => frame(0, bytes(byte), { fin: false }))
    expect(await closedWith(frame(TEXT, 'ok', { fin: false }), ...pieces, frame(0))).toBe(1007)
  })

  test('a binary message may have any bytes', async () => {
    const client = await Client.open(echo)
    await client.send(frame(BINARY, bytes(0xff, 0x80)))
    expect(await client.receive()).toEqual({ opcode: BINARY, payload: Buffer.from([0xff, 0x80]) })
  })
})
