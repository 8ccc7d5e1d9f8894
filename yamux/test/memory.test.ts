// What a session holds is counted to the byte, can be dropped unread, and is freed where it is the most.

import { describe, expect, test } from 'vitest'
import { pattern, readBytes } from './support/bytes.ts'
import { hex, scripted, turn } from './support/scripted.ts'

const SYN_1 = '00 01 0001 00000001 00000000'
const SYN_3 = '00 01 0001 00000003 00000000'
const FIN_1 = '00 01 0004 00000001 00000000'

/** A data frame of `length` bytes. */
function data(streamId: number, length: number): Uint8Array {
  const header = hex(`00 00 0000 ${digits(streamId)} ${digits(length)}`)
  return Uint8Array.from([...header, ...pattern(length)])
}

const digits = (value: number): string => value.toString(16).padStart(8, '0')

function metered() {
  const meter = {
    held: 0,
    mayGrow: true,
    hold: (bytes: number) => {
      meter.held += bytes
    },
  }
  return { meter, peer: scripted({ memory: meter }) }
}

describe('the meter counts', () => {
  test('what came and was not read', async () => {
    const { meter, peer } = metered()
    await peer.feed(SYN_1, data(1, 10_000), data(1, 10))
    expect(meter.held).toBe(10_010)
    await readBytes(peer.streams[0]!, 10_000)
    expect(meter.held).toBe(10)
    await peer.streams[0]!.read()
    expect(meter.held).toBe(0)
    const reading = peer.streams[0]!.read()
    await peer.feed(data(1, 5))
    expect([meter.held, (await reading)?.length]).toEqual([0, 5])
  })

  test('what was written and not sent', async () => {
    const { meter, peer } = metered()
    await peer.feed(SYN_1)
    const written = peer.streams[0]!.write(pattern(300 * 1024))
    expect(meter.held).toBe(300 * 1024)
    await turn()
    // The peer's window has taken the rest.
    expect(meter.held).toBe(44 * 1024)
    await peer.feed(`00 01 0000 00000001 ${digits(44 * 1024)}`)
    await written
    expect(meter.held).toBe(0)
  })

  test.each<[string, (peer: ReturnType<typeof scripted>) => unknown]>([
    ['we reset it', ({ streams }) => streams[0]?.abort()],
    ['the peer resets it', ({ feed }) => feed('00 01 0008 00000001 00000000')],
    ['the session is closed', ({ session }) => session.close()],
    ['the transport is gone', ({ session }) => session.transportClosed()],
    ['it is discarded, and nothing waits to be sent', ({ streams }) => streams[0]?.discard()],
  ])('nothing of a stream when %s', async (how, act) => {
    const { meter, peer } = metered()
    await peer.feed(SYN_1, data(1, 5_000), data(1, 3))
    if (!how.includes('discarded')) void peer.streams[0]?.write(pattern(300 * 1024))
    await turn()
    expect(meter.held).toBeGreaterThan(5_000)
    await act(peer)
    await turn()
    expect(meter.held).toBe(0)
  })

  test('what is left to be read of a stream that ended before its session', async () => {
    const { meter, peer } = metered()
    await peer.feed(SYN_1, data(1, 100), FIN_1)
    peer.session.transportClosed()
    expect(meter.held).toBe(100)
    expect(await readBytes(peer.streams[0]!, 100)).toEqual(pattern(100))
    expect(meter.held).toBe(0)
  })
})

describe('a read of at most so many bytes', () => {
  test('leaves the rest, which still counts, and in its order', async () => {
    const { meter, peer } = metered()
    await peer.feed(SYN_1, data(1, 10_000))
    const [stream] = peer.streams
    expect(await stream?.read({ maxBytes: 4_000 })).toEqual(pattern(10_000).subarray(0, 4_000))
    expect(meter.held).toBe(6_000)
    expect(await stream?.read({ maxBytes: 4_000 })).toEqual(pattern(10_000).subarray(4_000, 8_000))
    expect(await stream?.read()).toEqual(pattern(10_000).subarray(8_000))
  })

  test('takes no more when it was waiting', async () => {
    const { meter, peer } = metered()
    await peer.feed(SYN_1)
    const reading = peer.streams[0]!.read({ maxBytes: 4_000 })
    await peer.feed(data(1, 10_000))
    expect(await reading).toEqual(pattern(10_000).subarray(0, 4_000))
    expect(meter.held).toBe(6_000)
    expect(await peer.streams[0]?.read()).toEqual(pattern(10_000).subarray(4_000))
  })
})

describe('a stream that is discarded', () => {
  test('keeps nothing, gives no credit, and still says its last word', async () => {
    const { meter, peer } = metered()
    await peer.feed(SYN_1, data(1, 200_000))
    await peer.sent()
    const [stream] = peer.streams
    stream?.discard()
    await peer.feed(data(1, 50_000))
    expect([meter.held, await peer.sent()]).toEqual([0, []])
    void stream?.write(pattern(1))
    void stream?.end()
    expect(await peer.sent()).toEqual(['00 00 0000 00000001 00000001', '00 01 0004 00000001 00000000'])
    expect(peer.session.streamCount).toBe(1)
    await peer.feed(FIN_1)
    expect([await stream?.read(), peer.session.streamCount]).toEqual([undefined, 0])
    await stream?.closed
  })

  test('cannot be sent more than its window', async () => {
    const { peer } = metered()
    await peer.feed(SYN_1, data(1, 200_000))
    peer.streams[0]?.discard()
    await peer.feed(data(1, 62_145))
    expect(await peer.session.closed).toMatchObject({ code: 'window_exceeded' })
  })
})

describe('a session that has to free memory', () => {
  test('resets the streams that hold the most, no more of them than needed (protocol §8.1.10)', async () => {
    const { meter, peer } = metered()
    await peer.feed(
      SYN_1,
      SYN_3,
      '00 01 0001 00000005 00000000',
      data(1, 1_000),
      data(3, 30_000),
      data(5, 20_000),
    )
    await peer.sent()
    expect(peer.session.shed(30_001)).toBe(50_000)
    expect(meter.held).toBe(1_000)
    expect(await peer.sent()).toEqual(['00 01 0008 00000003 00000000', '00 01 0008 00000005 00000000'])
    await expect(peer.streams[1]?.read()).rejects.toMatchObject({ code: 'memory_exceeded' })
    expect(await peer.streams[0]?.read()).toEqual(pattern(1_000))
    expect(peer.session.shed(1)).toBe(0)
  })

  test('may do so while it receives the very payload that is too much', async () => {
    const { meter, peer } = metered()
    meter.hold = (bytes) => {
      meter.held += bytes
      if (meter.held > 10_000) peer.session.shed(1)
    }
    await peer.feed(SYN_1, SYN_3, data(1, 9_000), data(1, 2_000), data(1, 500), data(3, 10))
    expect(meter.held).toBe(10)
    expect(peer.streams[0]?.error).toMatchObject({ code: 'memory_exceeded' })
    expect(await peer.streams[1]?.read()).toEqual(pattern(10))
  })

  test('may do so while a write is taken', async () => {
    const { meter, peer } = metered()
    await peer.feed(SYN_1)
    meter.hold = (bytes) => {
      meter.held += bytes
      if (meter.held > 10_000) peer.session.shed(1)
    }
    await expect(peer.streams[0]?.write(pattern(10_001))).rejects.toMatchObject({ code: 'memory_exceeded' })
    expect(meter.held).toBe(0)
  })
})
