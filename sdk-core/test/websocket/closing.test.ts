// The end of a socket, RFC 6455 §5.5.1 and §7: who closes how, which codes pass, and every deadline.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { BUFFERED_MAX_BYTES, CLOSE_MS, PONG_MS, SILENCE_MS } from '../../src/websocket/limits.ts'
import { bytes, Client, frame, settle, status } from './client.ts'

const TEXT = 1
const CLOSE = 8
const PING = 9
const PONG = 10

describe('§5.5.1 the visitor closes', () => {
  test.each([1000, 1001, 1002, 1003, 1007, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999])(
    '%i is answered with the same',
    async (code) => {
      const client = await Client.open()
      await client.send(frame(CLOSE, status(code, 'bye')), frame(TEXT, 'not looked at'))
      expect(await client.rest()).toEqual([{ opcode: CLOSE, payload: status(code) }])
      expect(client.events).toEqual(['open', `close ${code} bye clean`])
      expect(client.socket.readyState).toBe(WebSocket.CLOSED)
    },
  )

  test('without a status: 1005, answered without one', async () => {
    const client = await Client.open()
    await client.send(frame(CLOSE))
    expect(await client.rest()).toEqual([{ opcode: CLOSE, payload: Buffer.alloc(0) }])
    expect(client.events).toEqual(['open', 'close 1005  clean'])
  })

  test.each([0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535])(
    '§7.4 1002 for the code %i',
    async (code) => {
      const client = await Client.open()
      await client.send(frame(CLOSE, status(code)))
      expect(await client.rest()).toEqual([{ opcode: CLOSE, payload: status(1002) }])
      expect(client.events).toEqual(['open', 'error invalid_close', 'close 1006 '])
    },
  )

  test('1002 for half a code, 1007 for a reason that is not UTF-8', async () => {
    for (const [payload, code] of [
      [bytes(3), 1002],
      [bytes(3, 232, 0xff), 1007],
    ] as const) {
      const client = await Client.open()
      await client.send(frame(CLOSE, payload))
      expect(await client.rest()).toEqual([{ opcode: CLOSE, payload: status(code) }])
    }
  })

  test('what was sent before goes first', async () => {
    const client = await Client.open((socket) => {
      socket.onopen = () => {
        for (let i = 0; i < 3; i++) socket.send(`${i}`)
      }
    })
    await client.send(frame(CLOSE, status(1000)))
    expect((await client.rest()).map(({ opcode }) => opcode)).toEqual([TEXT, TEXT, TEXT, CLOSE])
  })

  test('§7.1.5 an end without a Close frame is 1006', async () => {
    const client = await Client.open()
    await client.visitor.end()
    expect(await client.rest()).toEqual([])
    expect(client.events).toEqual(['open', 'close 1006 '])
  })

  test('a connection that breaks is 1006, with the cause', async () => {
    const client = await Client.open()
    client.visitor.stream.abort(Object.assign(new Error('reset'), { code: 'reset' }))
    await client.visitor.served
    expect(client.events).toEqual(['open', 'error reset', 'close 1006 '])
    expect(client.visitor.errors).toEqual([])
  })
})

describe('§7.1.2 the page closes', () => {
  test('messages go first, the visitor’s answer is the status', async () => {
    const client = await Client.open()
    client.socket.send('last')
    client.socket.close(4001, 'done')
    client.socket.close(1000)
    client.socket.send('too late')
    expect(client.socket.readyState).toBe(WebSocket.CLOSING)
    expect(await client.receive()).toEqual({ opcode: TEXT, payload: Buffer.from('last') })
    expect(await client.receive()).toEqual({ opcode: CLOSE, payload: Buffer.from(status(4001, 'done')) })
    await client.send(frame(TEXT, 'crossed'), frame(CLOSE, status(4001)))
    expect(await client.rest()).toEqual([])
    expect(client.events).toEqual(['open', 'close 4001  clean'])
  })

  test('in the handler already: the handshake, then Close, and never open', async () => {
    const client = await Client.open((socket) => socket.close(1008, 'not you'))
    expect(await client.receive()).toEqual({ opcode: CLOSE, payload: Buffer.from(status(1008, 'not you')) })
    await client.send(frame(CLOSE, status(1008)))
    await client.rest()
    expect(client.events).toEqual(['close 1008  clean'])
  })

  test.each([
    [[], Buffer.alloc(0)],
    [[undefined, 'why'], Buffer.from(status(1000, 'why'))],
  ] as [[number?, string?], Buffer][])('close(%j)', async (args, payload) => {
    const client = await Client.open()
    client.socket.close(...args)
    expect(await client.receive()).toEqual({ opcode: CLOSE, payload })
  })

  test('codes and reasons that no Close frame can carry', async () => {
    const { socket } = await Client.open()
    for (const code of [0, 999, 1004, 1006, 1015, 2000, 5000, 1000.5])
      expect(() => socket.close(code)).toThrow(expect.objectContaining({ name: 'InvalidAccessError' }))
    expect(() => socket.close(1000, 'é'.repeat(62))).toThrow(expect.objectContaining({ name: 'SyntaxError' }))
    expect(socket.readyState).toBe(WebSocket.OPEN)
  })

  test('1001 when the site closes, also for a socket that is about to open', async () => {
    for (const isEarly of [false, true]) {
      const site = new AbortController()
      const client = await Client.open(() => isEarly && site.abort(), {}, site.signal)
      if (!isEarly) site.abort()
      expect(await client.receive()).toEqual({ opcode: CLOSE, payload: status(1001) })
      await client.send(frame(CLOSE, status(1001)))
      await client.rest()
      expect(client.events.at(-1)).toBe('close 1001  clean')
    }
  })
})

describe('deadlines', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  async function pass(ms: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms)
    await settle()
  }

  test('a visitor that does not answer Close is dropped', async () => {
    const client = await Client.open()
    client.socket.close(1000)
    await settle()
    await pass(CLOSE_MS - 10)
    expect(client.visitor.server.isBroken).toBe(false)
    await pass(20)
    expect(client.visitor.server.isBroken).toBe(true)
    expect(client.events).toEqual(['open', 'error close_timeout', 'close 1006 '])
  })

  test('traffic does not make the wait for Close longer', async () => {
    const client = await Client.open()
    client.socket.close(1000)
    await settle()
    await pass(CLOSE_MS - 10)
    await client.send(frame(TEXT, 'still here'))
    await pass(20)
    expect(client.events).toEqual(['open', 'error close_timeout', 'close 1006 '])
  })

  test('a silent visitor is pinged; one that answers stays', async () => {
    const client = await Client.open()
    for (let i = 0; i < 3; i++) {
      await pass(SILENCE_MS + 10)
      expect(await client.receive()).toEqual({ opcode: PING, payload: Buffer.alloc(0) })
      await pass(PONG_MS - 100)
      await client.send(frame(PONG))
      await settle()
    }
    expect(client.socket.readyState).toBe(WebSocket.OPEN)
  })

  test('one that does not answer is dropped', async () => {
    const client = await Client.open()
    await pass(SILENCE_MS + 10)
    await pass(PONG_MS + 10)
    expect(client.visitor.server.isBroken).toBe(true)
    expect(client.events).toEqual(['open', 'error ping_timeout', 'close 1006 '])
  })

  test('a visitor that breaks a rule and reads nothing is dropped', async () => {
    const client = await Client.open()
    client.socket.send(new Uint8Array(1024 * 1024))
    await client.send(frame(3))
    await settle()
    await pass(CLOSE_MS + 10)
    expect(client.visitor.server.isBroken).toBe(true)
    expect(client.events).toEqual(['open', 'error reserved_opcode', 'close 1006 '])
  })
})

describe('bufferedAmount', () => {
  test('counts what the visitor has not taken, and falls as it reads', async () => {
    const client = await Client.open()
    client.socket.send('é')
    client.socket.send(new Blob([new Uint8Array(300_000)]))
    expect(client.socket.bufferedAmount).toBe(300_002)
    await client.receive()
    await client.pull()
    await settle()
    const waiting = client.socket.bufferedAmount
    expect(waiting).toBeGreaterThan(0)
    expect(waiting).toBeLessThan(300_000)
    expect((await client.receive())?.payload).toHaveLength(300_000)
    await settle()
    expect(client.socket.bufferedAmount).toBe(0)
  })

  test('a visitor that takes nothing is dropped when more is sent than may wait', async () => {
    const client = await Client.open()
    const megabyte = new Uint8Array(1024 * 1024)
    let sent = 0
    for (; client.socket.readyState === WebSocket.OPEN && sent < 100; sent++) client.socket.send(megabyte)
    expect(sent * megabyte.length).toBeGreaterThan(BUFFERED_MAX_BYTES)
    expect(sent).toBeLessThan(20)
    await client.visitor.served
    expect(client.events).toEqual(['open', 'error buffer_full', 'close 1006 '])
  })

  test('the bytes are those of the moment of sending', async () => {
    const client = await Client.open()
    const data = new Uint8Array([1, 2, 3, 4]).subarray(1, 3)
    client.socket.send(data)
    client.socket.send(data.buffer)
    data.fill(9)
    expect([...(await client.receive())!.payload]).toEqual([2, 3])
    expect([...(await client.receive())!.payload]).toEqual([1, 2, 3, 4])
  })
})
