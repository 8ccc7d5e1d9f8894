// What brings other implementations down: each costs the sender its session, or nothing.

import { describe, expect, test } from 'vitest'
import { pattern, readBytes } from './support/bytes.ts'
import { hex, scripted, turn } from './support/scripted.ts'

const SYN_1 = '00 01 0001 00000001 00000000'
const GO_AWAY_1 = '00 03 0000 00000000 00000001'

/** `count` frames in one message, each made from its number. */
function frames(count: number, frame: (i: number) => string): Uint8Array {
  return hex(Array.from({ length: count }, (_, i) => frame(i)).join(''))
}

const id = (i: number) => i.toString(16).padStart(8, '0')

describe('a broken protocol is answered with GoAway(1), and the transport closed (protocol §8.1.3)', () => {
  test.each([
    ['another version', 'bad_version', ['01 00 0000 00000001 00000000']],
    ['an unknown type', 'bad_type', ['00 04 0000 00000001 00000000']],
    ['data for stream 0', 'bad_stream_id', ['00 00 0000 00000000 00000001 00']],
    ['a stream 0 opened', 'bad_stream_id', ['00 01 0001 00000000 00000000']],
    ['an id of ours opened', 'bad_stream_id', ['00 01 0001 00000002 00000000']],
    ['a stream opened twice', 'duplicate_stream', [SYN_1, SYN_1]],
    ['a second FIN', 'unexpected_fin', ['00 01 0005 00000001 00000000', '00 01 0004 00000001 00000000']],
    ['data after FIN', 'data_after_fin', ['00 01 0005 00000001 00000000', '00 00 0000 00000001 00000001 00']],
    ['4 GiB of data announced', 'window_exceeded', [SYN_1, '00 00 0000 00000001 ffffffff']],
    ['one byte beyond the window', 'window_exceeded', [SYN_1, '00 00 0000 00000001 00040001']],
    ['credit beyond 32 bits', 'window_overflow', [SYN_1, '00 01 0000 00000001 fffc0000']],
  ])('%s', async (_what, code, sequence) => {
    const peer = scripted()
    await peer.feed(...sequence)
    expect(await peer.session.closed).toMatchObject({ code, goAwayCode: 1 })
    expect((await peer.sent()).at(-1)).toBe(GO_AWAY_1)
    expect(peer.closes).toBe(1)
    for (const stream of peer.streams) expect(stream.error).toBe(await peer.session.closed)

    await peer.feed(SYN_1, '00 02 0001 00000000 00000001')
    expect(await peer.sent()).toEqual([])
  })

  test('the window is exceeded by the sum of frames that nobody read', async () => {
    const peer = scripted()
    await peer.feed(SYN_1, '00 00 0000 00000001 00040000', new Uint8Array(256 * 1024))
    expect(peer.session.streamCount).toBe(1)
    await peer.feed('00 00 0000 00000001 00000001')
    expect(await peer.session.closed).toMatchObject({ code: 'window_exceeded' })
  })

  test('credit up to exactly 32 bits is taken', async () => {
    const peer = scripted()
    await peer.feed(SYN_1, '00 01 0000 00000001 fffbffff', '00 02 0001 00000000 00000001')
    expect((await peer.sent()).at(-1)).toBe('00 02 0002 00000000 00000001')
  })
})

describe('frames for streams that are over', () => {
  test('are skipped with their payload, whatever they say (protocol §8.1.8)', async () => {
    const peer = scripted()
    await peer.feed(SYN_1)
    peer.streams[0]!.abort()
    await peer.sent()
    await peer.feed(
      '00 00 0000 00000001 00000003 010203',
      '00 01 0004 00000001 00000000',
      '00 01 0000 00000001 ffffffff',
      '00 01 0000 00000001 ffffffff',
      '00 00 0004 00000003 00000003 010203',
      '00 01 0008 00000007 00000000',
      '00 02 0001 00000000 0000000a',
    )
    expect(await peer.sent()).toEqual(['00 02 0002 00000000 0000000a'])
  })

  test('do not reach the stream of the frame before', async () => {
    const peer = scripted()
    await peer.feed(SYN_1, '00 00 0000 00000001 00000001 61', '00 00 0000 00000003 00000002 6262')
    await peer.feed('00 00 0004 00000001 00000001 63')
    expect(await readBytes(peer.streams[0]!, 10)).toEqual(hex('61 63'))
  })

  test('4 GiB for one of them are skipped as they come, and kept nowhere', async () => {
    const peer = scripted()
    await peer.feed('00 00 0000 00000009 ffffffff')
    const piece = new Uint8Array(1024 * 1024)
    for (let i = 0; i < 4095; i++) peer.session.receive(piece)
    peer.session.receive(piece.subarray(1))
    await peer.feed('00 02 0001 00000000 0000000b')
    expect(await peer.sent()).toEqual(['00 02 0002 00000000 0000000b'])
  })

  test('a stream that is reset in the middle of a payload does not lose the frames behind it', async () => {
    const peer = scripted()
    await peer.feed(SYN_1, '00 00 0000 00000001 00000005 0102')
    peer.streams[0]!.abort()
    await peer.sent()
    await peer.feed('030405', '00 02 0001 00000000 0000000c')
    expect(await peer.sent()).toEqual(['00 02 0002 00000000 0000000c'])
  })
})

describe('60,000 tiny frames in one message', () => {
  const COUNT = 60_000

  test('of data', async () => {
    const peer = scripted()
    await peer.feed(
      SYN_1,
      frames(COUNT, (i) => `0000000000000001 00000001 ${(i & 0xff).toString(16).padStart(2, '0')}`),
    )
    const bytes = await readBytes(peer.streams[0]!, COUNT)
    expect(bytes).toEqual(Uint8Array.from({ length: COUNT }, (_, i) => i & 0xff))
  })

  test('of no data at all', async () => {
    const peer = scripted()
    await peer.feed(
      SYN_1,
      frames(COUNT, () => '0000000000000001 00000000'),
      '00 00 0000 00000001 00000001 61',
    )
    expect(await peer.streams[0]!.read()).toEqual(hex('61'))
  })

  test('of credit', async () => {
    const peer = scripted()
    await peer.feed(
      SYN_1,
      frames(COUNT, () => '0001000000000001 00000000'),
    )
    await peer.streams[0]!.write(pattern(1))
  })

  test('pings are answered up to 16 at once', async () => {
    const peer = scripted()
    await peer.feed(frames(COUNT, (i) => `0002000100000000 ${id(i)}`))
    expect(await peer.sent()).toEqual(Array.from({ length: 16 }, (_, i) => `00 02 0002 00000000 ${id(i)}`))
    await peer.feed(`00 02 0001 00000000 ${id(COUNT)}`)
    expect(await peer.sent()).toEqual([`00 02 0002 00000000 ${id(COUNT)}`])
  })

  test('pongs that nobody asked for do nothing', async () => {
    const peer = scripted()
    await peer.feed(frames(COUNT, (i) => `0002000200000000 ${id(i)}`))
    expect([peer.session.rtt, await peer.sent()]).toEqual([undefined, []])
  })

  test('of SYN end the session, because the answers cannot wait (protocol §8.1.9)', async () => {
    const peer = scripted()
    await peer.feed(frames(COUNT, (i) => `00010001 ${id(2 * i + 1)} 00000000`))
    expect(await peer.session.closed).toMatchObject({ code: 'control_flood', goAwayCode: 1 })
    expect(peer.streams.length).toBe(256)
    expect((await peer.sent()).length).toBe(4097)
    expect(peer.session.streamCount).toBe(0)
  })
})

describe('SYN flood', () => {
  const syn = (i: number) => `00010001 ${id(2 * i + 1)} 00000000`

  test('what exceeds the backlog is refused, the rest is served', async () => {
    const peer = scripted()
    await peer.feed(frames(300, syn))
    const answers = await peer.sent()
    expect(answers.slice(0, 256)).toEqual(
      Array.from({ length: 256 }, (_, i) => `00 01 0002 ${id(2 * i + 1)} 00000000`),
    )
    expect(answers.slice(256)).toEqual(
      Array.from({ length: 44 }, (_, i) => `00 01 0008 ${id(2 * i + 513)} 00000000`),
    )
    expect([peer.streams.length, peer.session.streamCount]).toEqual([256, 256])

    await peer.feed(syn(300))
    expect(await peer.sent()).toEqual([`00 01 0002 ${id(601)} 00000000`])
  })

  test('in many messages it stops at the number of streams', async () => {
    const peer = scripted({ maxStreams: 300 })
    for (let i = 0; i < 1000; i += 100) await peer.feed(frames(100, (j) => syn(i + j)))
    expect(peer.session.streamCount).toBe(300)
    expect((await peer.sent()).filter((header) => header.startsWith('00 01 0008')).length).toBe(700)
  })

  test('a peer that does not read the refusals is closed', async () => {
    const peer = scripted({ maxStreams: 1 })
    peer.transport.saturated = new Promise(() => {})
    for (let i = 0; i < 5000 && peer.closes === 0; i++) peer.session.receive(hex(syn(i)))
    expect(await peer.session.closed).toMatchObject({ code: 'control_flood' })
  })

  test('opened and reset at once, over and over, nothing is left', async () => {
    const peer = scripted()
    for (let i = 0; i < 10_000; i++) {
      peer.session.receive(hex(`${syn(i)} 00010008 ${id(2 * i + 1)} 00000000`))
      if (i % 100 === 0) await turn()
    }
    expect(peer.session.streamCount).toBe(0)
    expect(peer.closes).toBe(0)
  })
})

test('after a flood of opens and aborts of our own into a stalled transport the session gives up', async () => {
  const peer = scripted({ role: 'client' })
  peer.transport.saturated = new Promise(() => {})
  const flood = async () => {
    for (let i = 0; i < 5000; i++) (await peer.session.open()).abort()
  }
  await expect(flood()).rejects.toMatchObject({ code: expect.stringMatching(/control_flood|session_closed/) })
})
