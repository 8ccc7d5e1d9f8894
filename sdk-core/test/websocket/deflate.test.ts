// permessage-deflate, RFC 7692: what is agreed on, the frames of its examples, and what must not be believed.

import { deflateRawSync, inflateRawSync, constants as zlib } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { hex } from '../../../tls/test/support/hex.ts'
import fc from '../../../tools/fast-check.ts'
import { atDepth } from '../../../tools/test-depth.ts'
import { messageCompression } from '../../src/websocket/deflate.ts'
import { negotiateDeflate } from '../../src/websocket/deflate-negotiation.ts'
import { DEFLATE_MAX_BYTES, DEFLATE_MIN_BYTES } from '../../src/websocket/limits.ts'
import type { UpgradeOptions } from '../../src/websocket/upgrade.ts'
import { Client, COMPRESSED, DEFLATE_HANDSHAKE, frame, settle } from './client.ts'

const AGREED = 'permessage-deflate; server_no_context_takeover; client_no_context_takeover'
const FLUSHED = Buffer.from('0000ffff', 'hex')

/** As another implementation compresses a message (§7.2.1). */
function deflated(message: string | Uint8Array): Buffer {
  return deflateRawSync(message, { finishFlush: zlib.Z_SYNC_FLUSH }).subarray(0, -FLUSHED.length)
}

/** As another implementation reads one (§7.2.2). */
function inflated(payload: Uint8Array, windowBits = 15): string {
  const options = { finishFlush: zlib.Z_SYNC_FLUSH, windowBits }
  return inflateRawSync(Buffer.concat([payload, FLUSHED]), options).toString()
}

async function open(options?: UpgradeOptions): Promise<Client> {
  const client = new Client((socket) => {
    socket.onmessage = ({ data }) => socket.send(data)
  }, options)
  await client.shakeHands(DEFLATE_HANDSHAKE)
  return client
}

/** The status of the Close frame that answers these frames. */
async function refused(client: Client, ...frames: Uint8Array[]): Promise<number> {
  await client.send(...frames)
  return (await client.receive())!.payload.readUInt16BE(0)
}

describe('§7.1 what is agreed on', () => {
  test.each([
    ['permessage-deflate', AGREED],
    ['permessage-deflate; client_max_window_bits', AGREED],
    ['permessage-deflate; client_max_window_bits=8; client_no_context_takeover', AGREED],
    ['permessage-deflate;server_no_context_takeover', AGREED],
    ['permessage-deflate; server_max_window_bits="15"', `${AGREED}; server_max_window_bits=15`],
    ['x-webkit-deflate-frame, permessage-deflate', AGREED],
    ['permessage-deflate; server_max_window_bits=9', `${AGREED}; server_max_window_bits=9`],
    ['permessage-deflate; server_max_window_bits=8, permessage-deflate', AGREED],
  ])('accepted: %s', (offered, answer) => {
    expect(negotiateDeflate(offered)?.extensions).toBe(answer)
  })

  test.each([
    '',
    'permessage-bzip2',
    'permessage-deflate; server_max_window_bits=8',
    'permessage-deflate; server_max_window_bits',
    'permessage-deflate; server_max_window_bits=16',
    'permessage-deflate; client_max_window_bits=7',
    'permessage-deflate; client_max_window_bits=08',
    'permessage-deflate; client_max_window_bits; client_max_window_bits',
    'permessage-deflate; server_no_context_takeover=1',
    'permessage-deflate; unknown',
  ])('declined: %s', (offered) => {
    expect(negotiateDeflate(offered)).toBeUndefined()
  })

  test('the visitor and the handler learn of it', async () => {
    const client = new Client()
    expect(await client.shakeHands(DEFLATE_HANDSHAKE)).toContain(`sec-websocket-extensions: ${AGREED}\r\n`)
    expect(client.socket.extensions).toBe(AGREED)
  })

  test('a handler may decline it', async () => {
    const client = new Client(() => {}, { compression: false })
    expect(await client.shakeHands(DEFLATE_HANDSHAKE)).not.toContain('extensions')
    expect(client.socket.extensions).toBe('')
    expect(await refused(client, frame(1, hex('f248cdc9c90700'), { rsv: COMPRESSED }))).toBe(1002)
  })
})

describe('§7.2.3 the examples', () => {
  test.each([
    ['§7.2.3.1 one block', ['f248cdc9c90700']],
    ['§7.2.3.1 in fragments', ['f248cd', 'c9c90700']],
    ['§7.2.3.3 a block without compression', ['000500faff48656c6c6f00']],
    ['§7.2.3.4 a block with BFINAL', ['f348cdc9c9070000']],
    ['§7.2.3.5 two blocks', ['f248050000 00ffffcac9c90700'.replace(' ', '')]],
  ])('%s', async (_, parts) => {
    const client = await open()
    const frames = parts.map((part, i) =>
      frame(i === 0 ? 1 : 0, hex(part), { fin: i === parts.length - 1, rsv: i === 0 ? COMPRESSED : 0 }),
    )
    await client.send(...frames)
    expect(String((await client.receive())!.payload)).toBe('Hello')
  })
})

describe('messages', () => {
  test('a message without RSV1 is not compressed', async () => {
    const client = await open()
    await client.send(frame(1, 'plain'), frame(1, deflated('packed'), { rsv: COMPRESSED }), frame(1, 'plain'))
    for (const text of ['plain', 'packed', 'plain'])
      expect(String((await client.receive())!.payload)).toBe(text)
  })

  test.each([
    ['a short text', 'a'.repeat(DEFLATE_MIN_BYTES - 1), false],
    ['a text of the least length', 'a'.repeat(DEFLATE_MIN_BYTES), true],
    ['a text of the greatest length', 'ab'.repeat(DEFLATE_MAX_BYTES / 2), true],
    ['a longer text', 'a'.repeat(DEFLATE_MAX_BYTES + 1), false],
    [
      'a text that hardly gets shorter',
      Buffer.from(crypto.getRandomValues(new Uint8Array(900))).toString('base64url'),
      true,
    ],
    ['binary', new Uint8Array(DEFLATE_MIN_BYTES), false],
  ])('%s leaves compressed only where that pays', async (_, data, isCompressed) => {
    const client = await open()
    client.socket.send(data)
    const { compressed, payload } = (await client.receive())!
    expect(compressed ?? false).toBe(isCompressed)
    if (typeof data === 'string') expect(compressed ? inflated(payload) : String(payload)).toBe(data)
    await settle()
    expect(client.socket.bufferedAmount).toBe(0)
  })

  test('what is deflated here inflates elsewhere, and back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 300 }), { maxLength: 200 }),
        fc.nat(5000),
        (parts, length) => {
          const random = Buffer.from(crypto.getRandomValues(new Uint8Array(length))).toString('base64url')
          const text = [...parts, random, ...parts].join('')
          const message = new TextEncoder().encode(text)
          for (const windowBits of [9, 15]) {
            const { deflate, inflate } = messageCompression(windowBits)
            expect(inflated(deflate(message), windowBits)).toBe(text)
            expect(inflate(deflated(message), message.length)).toEqual(message)
          }
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('what must not be believed', () => {
  test('§6.1 RSV1 on a continuation, and on a control frame, is 1002', async () => {
    const start = frame(1, hex('f248cd'), { fin: false, rsv: COMPRESSED })
    expect(await refused(await open(), start, frame(0, hex('c9c90700'), { rsv: COMPRESSED }))).toBe(1002)
    expect(await refused(await open(), frame(9, '', { rsv: COMPRESSED }))).toBe(1002)
    expect(await refused(await open(), frame(1, 'a', { rsv: 6 }))).toBe(1002)
  })

  test.each([
    ['a reserved block type', '07'],
    ['a block that is cut short', 'f248cd'],
    ['a distance beyond the start', '4b04620000'],
    ['text', Buffer.from('not deflated at all').toString('hex')],
  ])('%s is 1007', async (_, payload) => {
    expect(await refused(await open(), frame(1, hex(payload), { rsv: COMPRESSED }))).toBe(1007)
  })

  test('compressed text that is not UTF-8 is 1007', async () => {
    expect(await refused(await open(), frame(1, deflated(Uint8Array.of(0xff)), { rsv: COMPRESSED }))).toBe(
      1007,
    )
  })

  test('a bomb is 1009, and never unpacked', async () => {
    const bomb = deflated(Buffer.alloc(atDepth(512, 128) * 1024 * 1024))
    expect(bomb.length).toBeLessThan(600_000)
    const client = await open({ maxMessageBytes: 1024 * 1024 })
    const before = process.memoryUsage().arrayBuffers
    expect(await refused(client, frame(2, bomb, { rsv: COMPRESSED }))).toBe(1009)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024)
  })
})
