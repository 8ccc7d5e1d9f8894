// Specification, "Flow Control", and what the specification leaves to us: order, fairness, coalescing, back-pressure.

import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Session } from '../src/index.ts'
import { pattern, readBytes } from './support/bytes.ts'
import { pair } from './support/pair.ts'
import { headers, hex, scripted, turn } from './support/scripted.ts'

const WINDOW = 256 * 1024
/** A full TLS record. */
const SLICE_PAYLOAD = 5 + 16_384 + 256

const settled = async (promise: Promise<unknown>) =>
  (await Promise.race([promise.then(() => true), turn().then(() => false)])) as boolean

/** Payload bytes in messages. */
const payloadOf = (messages: Uint8Array[]) =>
  messages.reduce((sum, message) => sum + message.length - headers(message).length * 12, 0)

describe('receiving', () => {
  test('a reader that stalls stops the writer at exactly the window', async () => {
    const { client, server } = pair()
    const out = await client.session.open()
    const into = await server.accept()
    await out.write(new Uint8Array(WINDOW))
    const one = out.write(pattern(1))
    for (let i = 0; i < 10; i++) expect(await settled(one)).toBe(false)

    await readBytes(into, WINDOW)
    await one
    expect(await into.read()).toEqual(pattern(1))
  })

  test('credit is given for what was read, when that is half of the window', async () => {
    const { feed, sent, streams } = scripted()
    await feed('00 01 0001 00000001 00000000')
    const half = new Uint8Array(WINDOW / 2)
    await feed(
      '00 00 0000 00000001 0001ffff',
      half.subarray(1),
      '00 00 0000 00000001 00020001',
      half,
      hex('00'),
    )
    await sent()
    await readBytes(streams[0]!, WINDOW / 2 - 1)
    expect(await sent()).toEqual([])
    await streams[0]!.read()
    // Behind the first credit comes a ping: growth needs the round trip.
    expect(await sent()).toEqual(['00 01 0000 00000001 0003ffff', '00 02 0001 00000000 00000000'])
  })

  test('no credit is given behind the FIN of the peer', async () => {
    const { feed, sent, streams } = scripted()
    await feed('00 00 0005 00000001 00040000', new Uint8Array(WINDOW))
    await sent()
    await readBytes(streams[0]!, WINDOW)
    expect(await sent()).toEqual([])
  })

  test('the windows grow with the round trip, by what all streams share', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { feed, sent, streams, session } = scripted({ windowBudgetBytes: 0x10000 })
    void session.ping()
    vi.advanceTimersByTime(100)
    await feed('00 02 0002 00000000 00000000')
    expect(session.rtt).toBe(100)
    await feed(...[1, 3].map((id) => `00 01 0001 0000000${id} 00000000`))
    await sent()

    const readHalfWindow = async (stream: number) => {
      await feed(`00 00 0000 0000000${stream} 00020000`, new Uint8Array(WINDOW / 2))
      await readBytes(streams[(stream - 1) / 2]!, WINDOW / 2)
      return sent()
    }
    expect(await readHalfWindow(1)).toEqual(['00 01 0000 00000001 00030000'])
    expect(await readHalfWindow(3)).toEqual(['00 01 0000 00000003 00020000'])
    await feed('00 01 0008 00000001 00000000')
    expect(await readHalfWindow(3)).toEqual(['00 01 0000 00000003 00030000'])
  })
})

describe('sending', () => {
  test('no more than the window of the peer, which a window update enlarges', async () => {
    const peer = scripted({ role: 'client' })
    const stream = await peer.session.open()
    const writing = stream.write(new Uint8Array(WINDOW + 1000))
    await turn()
    expect(payloadOf(peer.messages)).toBe(WINDOW)
    peer.messages.length = 0
    await peer.feed('00 01 0002 00000001 000003e7')
    expect(payloadOf(peer.messages)).toBe(999)
    expect(await settled(writing)).toBe(false)
    await peer.feed('00 01 0000 00000001 00000001')
    await writing
    expect(payloadOf(peer.messages)).toBe(1000)
  })

  test('a stream alone fills whole messages, a write of 64 KiB just one', async () => {
    const peer = scripted({ role: 'client' })
    const stream = await peer.session.open()
    await turn()
    peer.messages.length = 0
    await stream.write(new Uint8Array(2 * 66_616))
    expect(peer.messages.map((message) => message.length)).toEqual([66_628, 66_628])
    expect(headers(peer.messages[0]!)).toEqual(['00 00 0000 00000001 00010438'])
    await stream.write(new Uint8Array(65_536))
    expect(peer.messages.splice(2).map((message) => message.length)).toEqual([65_548])
  })

  test('messages share memory where the transport copies them, and only there', async () => {
    for (const copies of [true, false]) {
      const sent: Uint8Array[] = []
      const copied: Uint8Array[] = []
      const send = (message: Uint8Array): void => {
        sent.push(message)
        copied.push(message.slice())
      }
      const session = new Session({ send, copies, close: () => {} }, { role: 'client' })
      const stream = await session.open()
      await turn()
      await stream.write(pattern(100_000))
      expect(new Set(sent.map(({ buffer }) => buffer)).size).toBe(copies ? 1 : sent.length)
      expect(sent.length).toBeGreaterThan(2)
      expect(Buffer.concat(copied.map((message) => message.subarray(12))).subarray(-100_000)).toEqual(
        Buffer.from(pattern(100_000)),
      )
      session.close()
    }
  })

  test('small writes of one turn go out as one frame', async () => {
    const peer = scripted({ role: 'client' })
    const stream = await peer.session.open()
    await peer.sent()
    await Promise.all(Array.from({ length: 1000 }, (_, i) => stream.write(pattern(1, i))))
    expect(await peer.sent()).toEqual(['00 00 0000 00000001 000003e8'])
  })

  test('streams take turns, slice by slice', async () => {
    const peer = scripted({ role: 'client' })
    const streams = await Promise.all([peer.session.open(), peer.session.open(), peer.session.open()])
    await peer.sent()
    await Promise.all(streams.map((stream) => stream.write(new Uint8Array(4 * SLICE_PAYLOAD))))
    const ids = (await peer.sent()).map((header) => Number.parseInt(header.slice(11, 19), 16))
    expect(ids).toEqual([1, 3, 5, 1, 3, 5, 1, 3, 5, 1, 3, 5])
  })

  test('a stream with little to send is not held up by one with much', async () => {
    const peer = scripted({ role: 'client' })
    const [bulk, chat] = await Promise.all([peer.session.open(), peer.session.open()])
    await peer.sent()
    void bulk.write(new Uint8Array(WINDOW))
    await chat.write(pattern(10))
    expect((await peer.sent()).slice(0, 2)).toEqual([
      '00 00 0000 00000001 00004105',
      '00 00 0000 00000003 0000000a',
    ])
  })

  test('one without credit does not take a turn', async () => {
    const peer = scripted({ role: 'client' })
    const [stalled, other] = await Promise.all([peer.session.open(), peer.session.open()])
    void stalled.write(new Uint8Array(WINDOW + 1))
    await peer.sent()
    await other.write(pattern(10))
    expect(await peer.sent()).toEqual(['00 00 0000 00000003 0000000a'])
  })

  test('a saturated transport is left alone, and then gets control frames first', async () => {
    const peer = scripted({ role: 'client' })
    const stream = await peer.session.open()
    await peer.sent()
    const { promise, resolve } = Promise.withResolvers<void>()
    peer.transport.saturated = promise
    await stream.write(pattern(1))
    const second = stream.write(pattern(2))
    await peer.feed('00 02 0001 00000000 00000005')
    expect(await settled(second)).toBe(false)
    expect(await peer.sent()).toEqual(['00 00 0000 00000001 00000001'])

    peer.transport.saturated = undefined
    resolve()
    await second
    expect(await peer.sent()).toEqual(['00 02 0002 00000000 00000005', '00 00 0000 00000001 00000002'])
  })

  test('the array of a write is read until the write resolves, and not after', async () => {
    const peer = scripted({ role: 'client' })
    const stream = await peer.session.open()
    const bytes = pattern(100)
    await stream.write(bytes)
    bytes.fill(0)
    await stream.end()
    const message = Buffer.concat(peer.messages)
    expect(new Uint8Array(message.subarray(24, 124))).toEqual(pattern(100))
  })
})
