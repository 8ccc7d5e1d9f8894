// A session against a scripted peer, in literal frames.

import { describe, expect, test } from 'vitest'
import { pattern } from './support/bytes.ts'
import { hex, scripted } from './support/scripted.ts'

const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString()

describe('specification, "Opening a stream"', () => {
  test('a client opens odd ids with SYN, a server even ones (protocol §8.1.1)', async () => {
    const client = scripted({ role: 'client' })
    expect([(await client.session.open()).id, (await client.session.open()).id]).toEqual([1, 3])
    expect(await client.sent()).toEqual(['00 01 0001 00000001 00000000', '00 01 0001 00000003 00000000'])

    const server = scripted({ role: 'server' })
    expect((await server.session.open()).id).toBe(2)
    expect(await server.sent()).toEqual(['00 01 0001 00000002 00000000'])
  })

  test('data may follow the SYN without waiting for the ACK, in the same message', async () => {
    const { session, messages } = scripted({ role: 'client' })
    await (await session.open()).write(pattern(3))
    expect(Buffer.concat(messages).toString('hex')).toBe(
      Buffer.concat([
        hex('00 01 0001 00000001 00000000'),
        hex('00 00 0000 00000001 00000003'),
        pattern(3),
      ]).toString('hex'),
    )
  })

  test('the SYN of the peer is answered with ACK', async () => {
    const { feed, sent, streams } = scripted()
    await feed('00 01 0001 00000001 00000000')
    expect(await sent()).toEqual(['00 01 0002 00000001 00000000'])
    expect(streams.map((stream) => stream.id)).toEqual([1])
  })

  test('SYN may come with data, with credit and with FIN', async () => {
    const { feed, streams } = scripted()
    await feed('00 00 0005 00000001 00000003 616263')
    expect(text(await streams[0]!.read())).toBe('abc')
    expect(await streams[0]!.read()).toBeUndefined()
  })

  test('a stream without a handler is refused, and its data skipped', async () => {
    const { feed, sent } = scripted({ onStream: undefined })
    await feed('00 00 0001 00000001 00000003 616263', '00 02 0001 00000000 00000009')
    expect(await sent()).toEqual(['00 01 0008 00000001 00000000', '00 02 0002 00000000 00000009'])
  })

  test('a RST instead of an ACK is a refusal, after it a reset', async () => {
    const { feed, session } = scripted({ role: 'client' })
    const refused = await session.open()
    const reset = await session.open()
    await feed('00 01 0008 00000001 00000000', '00 01 0002 00000003 00000000', '00 01 0008 00000003 00000000')
    await expect(refused.read()).rejects.toMatchObject({ code: 'stream_refused' })
    await expect(reset.read()).rejects.toMatchObject({ code: 'stream_reset' })
  })

  test('a handler that throws loses its stream, not the session', async () => {
    const uncaught = new Promise<unknown>((resolve) => {
      const listeners = process.listeners('uncaughtException')
      process.removeAllListeners('uncaughtException')
      process.once('uncaughtException', (error) => {
        for (const listener of listeners) process.on('uncaughtException', listener)
        resolve(error)
      })
    })
    const bug = new Error('bug')
    const { feed, sent, session } = scripted({
      onStream() {
        throw bug
      },
    })
    await feed('00 01 0001 00000001 00000000', '00 02 0001 00000000 00000001')
    expect(await uncaught).toBe(bug)
    expect(await sent()).toEqual([
      '00 01 0002 00000001 00000000',
      '00 01 0008 00000001 00000000',
      '00 02 0002 00000000 00000001',
    ])
    expect(session.streamCount).toBe(0)
  })
})

describe('specification, "Closing a stream"', () => {
  test('FIN is a frame of its own, behind the data; the other direction stays open (protocol §8.1.5)', async () => {
    const { feed, sent, streams, session } = scripted()
    await feed('00 01 0001 00000001 00000000')
    const stream = streams[0]!
    const written = stream.write(pattern(5))
    await stream.end()
    await written
    expect(await sent()).toEqual([
      '00 01 0002 00000001 00000000',
      '00 00 0000 00000001 00000005',
      '00 01 0004 00000001 00000000',
    ])
    await feed('00 00 0000 00000001 00000003 616263')
    expect(text(await stream.read())).toBe('abc')
    expect(session.streamCount).toBe(1)
  })

  test('a FIN with data takes effect behind its last byte', async () => {
    const { feed, streams } = scripted()
    await feed('00 01 0001 00000001 00000000', '00 00 0004 00000001 00000003 61')
    expect(text(await streams[0]!.read())).toBe('a')
    const next = streams[0]!.read()
    await feed('62', '63')
    expect(text(await next)).toBe('b')
    expect(text(await streams[0]!.read())).toBe('c')
    expect(await streams[0]!.read()).toBeUndefined()
  })

  test('after the FIN of the peer writing goes on', async () => {
    const { feed, sent, streams } = scripted()
    await feed('00 01 0001 00000001 00000000', '00 00 0004 00000001 00000001 61')
    expect(text(await streams[0]!.read())).toBe('a')
    expect(await streams[0]!.read()).toBeUndefined()
    expect(await streams[0]!.read()).toBeUndefined()
    await streams[0]!.write(pattern(2))
    expect(await sent()).toEqual(['00 01 0002 00000001 00000000', '00 00 0000 00000001 00000002'])
  })

  test('with both ended and all read it is over', async () => {
    const { feed, streams, session } = scripted()
    await feed('00 00 0005 00000001 00000001 61')
    const stream = streams[0]!
    await stream.end()
    expect(session.streamCount).toBe(1)
    await stream.read()
    await stream.closed
    expect(stream.error).toBeUndefined()
    expect(session.streamCount).toBe(0)
  })

  test('nothing can be written after the end, which is the same however often it is asked', async () => {
    const { session } = scripted()
    const stream = await session.open()
    const ended = stream.end()
    expect(stream.end()).toBe(ended)
    await expect(stream.write(pattern(1))).rejects.toMatchObject({ code: 'stream_ended' })
  })

  test('RST of the peer fails what waits and what follows, and is not answered', async () => {
    const { feed, sent, streams, session } = scripted()
    await feed('00 01 0001 00000001 00000000')
    const stream = streams[0]!
    const reading = expect(stream.read()).rejects.toMatchObject({ code: 'stream_reset' })
    const writing = expect(stream.write(new Uint8Array(300_000))).rejects.toMatchObject({
      code: 'stream_reset',
    })
    await sent()
    await feed('00 01 0008 00000001 00000000')
    await Promise.all([reading, writing, stream.closed])
    expect(stream.error?.code).toBe('stream_reset')
    await expect(stream.write(pattern(1))).rejects.toBe(stream.error)
    await expect(stream.end()).rejects.toBe(stream.error)
    expect(await sent()).toEqual([])
    expect(session.streamCount).toBe(0)
  })

  test('who does not await a write or an end is not brought down by a RST', async () => {
    const { feed, streams } = scripted()
    await feed('00 01 0001 00000001 00000000')
    void streams[0]!.write(new Uint8Array(300_000))
    void streams[0]!.end()
    await feed('00 01 0008 00000001 00000000')
    await streams[0]!.closed
    void streams[0]!.write(pattern(1))
    void streams[0]!.end()
    await feed()
  })

  test('abort sends RST once, drops what waits, and says why', async () => {
    const { feed, sent, streams, session } = scripted()
    await feed('00 01 0001 00000001 00000000')
    await sent()
    const stream = streams[0]!
    const writing = expect(stream.write(pattern(9))).rejects.toMatchObject({
      code: 'stream_aborted',
      cause: 'why',
    })
    stream.abort('why')
    stream.abort('again')
    await writing
    expect(await sent()).toEqual(['00 01 0008 00000001 00000000'])
    expect(stream.error?.cause).toBe('why')
    expect(session.streamCount).toBe(0)
  })
})

describe('specification, "Session termination"', () => {
  test('goAway refuses new streams both ways, lets the old ones finish, then closes', async () => {
    const peer = scripted()
    await peer.feed('00 01 0001 00000001 00000000')
    peer.session.goAway()
    peer.session.goAway()
    await peer.feed('00 01 0001 00000003 00000000')
    expect(await peer.sent()).toEqual([
      '00 01 0002 00000001 00000000',
      '00 03 0000 00000000 00000000',
      '00 01 0008 00000003 00000000',
    ])
    await expect(peer.session.open()).rejects.toMatchObject({ code: 'going_away' })

    const stream = peer.streams[0]!
    await stream.write(pattern(4))
    await peer.feed('00 01 0004 00000001 00000000')
    expect(peer.closes).toBe(0)
    await stream.end()
    expect(await peer.session.closed).toBeUndefined()
    expect(peer.closes).toBe(1)
    expect(await peer.sent()).toEqual(['00 00 0000 00000001 00000004', '00 01 0004 00000001 00000000'])
  })

  test('goAway without streams closes at once', async () => {
    const peer = scripted()
    peer.session.goAway()
    expect(await peer.session.closed).toBeUndefined()
    expect(await peer.sent()).toEqual(['00 03 0000 00000000 00000000'])
    expect(peer.closes).toBe(1)
  })

  test('a GoAway of ours does not hide the reason of an end by force', async () => {
    const peer = scripted()
    await peer.feed('00 01 0001 00000001 00000000')
    peer.session.goAway()
    await peer.feed('00 00 0000 00000001 ffffffff')
    expect((await peer.sent()).at(-1)).toBe('00 03 0000 00000000 00000001')
  })

  test('after GoAway(0) of the peer nothing is opened, and the old streams finish (protocol §8.1.7)', async () => {
    const { feed, session } = scripted({ role: 'client' })
    const stream = await session.open()
    await feed('00 03 0000 00000000 00000000')
    await expect(session.open()).rejects.toMatchObject({ code: 'peer_going_away' })
    await feed('00 00 0006 00000001 00000001 61')
    expect(text(await stream.read())).toBe('a')
    await stream.end()
    session.transportClosed()
    expect(await session.closed).toBeUndefined()
  })

  test.each([1, 2, 77])('GoAway(%i) of the peer ends the session', async (code) => {
    const peer = scripted({ role: 'client' })
    const stream = await peer.session.open()
    await peer.feed(`00 03 0000 00000000 ${code.toString(16).padStart(8, '0')}`)
    expect(await peer.session.closed).toMatchObject({ code: 'peer_error', goAwayCode: code })
    await expect(stream.read()).rejects.toMatchObject({ code: 'peer_error' })
    expect(peer.closes).toBe(1)
  })

  test('close says a code that both sides agreed on, also behind a GoAway(0)', async () => {
    const peer = scripted()
    await peer.feed('00 01 0001 00000001 00000000')
    peer.session.goAway()
    peer.session.close(4002)
    expect(await peer.session.closed).toBeUndefined()
    expect((await peer.sent()).at(-1)).toBe('00 03 0000 00000000 00000fa2')
    expect(peer.closes).toBe(1)
  })

  test('close says GoAway(0), closes the transport, and fails every stream', async () => {
    const peer = scripted({ role: 'client' })
    const stream = await peer.session.open()
    const reading = expect(stream.read()).rejects.toMatchObject({ code: 'session_closed' })
    peer.session.close()
    peer.session.close()
    await reading
    expect(await peer.session.closed).toBeUndefined()
    expect(await peer.sent()).toEqual(['00 01 0001 00000001 00000000', '00 03 0000 00000000 00000000'])
    expect(peer.closes).toBe(1)
    expect(peer.session.streamCount).toBe(0)
    await expect(peer.session.open()).rejects.toMatchObject({ code: 'session_closed', cause: undefined })
    await expect(peer.session.ping()).rejects.toMatchObject({ code: 'session_closed' })
  })

  test('a lost transport fails every stream, but what came whole can be read', async () => {
    const { feed, streams, session } = scripted()
    await feed('00 00 0005 00000001 00000003 616263', '00 00 0001 00000003 00000003 616263')
    const cause = new Error('cable')
    session.transportClosed(cause)
    expect(await session.closed).toMatchObject({ code: 'transport_closed', cause })
    expect(text(await streams[0]!.read())).toBe('abc')
    expect(await streams[0]!.read()).toBeUndefined()
    await expect(streams[0]!.write(pattern(1))).rejects.toMatchObject({ code: 'transport_closed' })
    await expect(streams[1]!.read()).rejects.toMatchObject({ code: 'transport_closed' })
    await expect(session.open()).rejects.toMatchObject({
      code: 'session_closed',
      cause: { code: 'transport_closed' },
    })
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('gone')
      },
    ],
    ['rejects', () => Promise.reject(new Error('gone'))],
  ])('a transport whose send %s is a lost one', async (_how, send) => {
    const peer = scripted({ role: 'client' })
    peer.transport.send = send
    await peer.session.open()
    expect(await peer.session.closed).toMatchObject({ code: 'transport_closed', cause: { message: 'gone' } })
    expect(peer.closes).toBe(1)
  })
})

describe('ping', () => {
  test('is answered with its value (protocol §8.1.4)', async () => {
    const { feed, sent } = scripted()
    await feed('00 02 0001 00000000 deadbeef')
    expect(await sent()).toEqual(['00 02 0002 00000000 deadbeef'])
  })

  test('measures the round trip, once for all who ask meanwhile', async () => {
    const { feed, sent, session } = scripted()
    const both = Promise.all([session.ping(), session.ping()])
    expect(await sent()).toEqual(['00 02 0001 00000000 00000000'])
    await feed('00 02 0002 00000000 00000063')
    expect(session.rtt).toBeUndefined()
    await feed('00 02 0002 00000000 00000000')
    const [first, second] = await both
    expect(first).toBe(second)
    expect(first).toBeGreaterThan(0)
    expect(session.rtt).toBe(first)

    void session.ping()
    expect(await sent()).toEqual(['00 02 0001 00000000 00000001'])
    await feed('00 02 0002 00000000 00000001')
  })
})

test('what is read is a plain Uint8Array, whatever the transport delivers', async () => {
  const { feed, streams } = scripted()
  await feed(Buffer.concat([hex('00 00 0001 00000001 00010000'), pattern(65536)]))
  expect(Object.getPrototypeOf(await streams[0]!.read())).toBe(Uint8Array.prototype)
})

describe('options', () => {
  test('a larger window is announced with SYN and with ACK (protocol §8.1.2)', async () => {
    const client = scripted({ role: 'client', windowBytes: 1024 * 1024 })
    await client.session.open()
    expect(await client.sent()).toEqual(['00 01 0001 00000001 000c0000'])
    const server = scripted({ windowBytes: 1024 * 1024 })
    await server.feed('00 01 0001 00000001 00000000')
    expect(await server.sent()).toEqual(['00 01 0002 00000001 000c0000'])
  })

  test.each([
    { windowBytes: 256 * 1024 - 1 },
    { maxWindowBytes: 2 ** 32 },
    { acceptBacklog: 0 },
    { keepAliveIntervalMs: -1 },
    { keepAliveIntervalMs: 2 ** 31 },
    { pingTimeoutMs: 0 },
    { maxStreams: Number.NaN },
  ])('%o is refused', (options) => {
    expect(() => scripted(options)).toThrow(RangeError)
  })

  test('stream ids run out with a code of their own', async () => {
    const { session } = scripted({ role: 'client', maxStreamId: 4 })
    await session.open()
    await session.open()
    await expect(session.open()).rejects.toMatchObject({ code: 'ids_exhausted' })
  })

  test('streams of a session are bounded, both ways together', async () => {
    const { feed, sent, session } = scripted({ maxStreams: 2 })
    const stream = await session.open()
    await feed('00 01 0001 00000001 00000000', '00 01 0001 00000003 00000000')
    expect(await sent()).toEqual([
      '00 01 0001 00000002 00000000',
      '00 01 0002 00000001 00000000',
      '00 01 0008 00000003 00000000',
    ])
    await expect(session.open()).rejects.toMatchObject({ code: 'too_many_streams' })
    stream.abort()
    await session.open()
    expect(session.streamCount).toBe(2)
  })
})
