// One reverse stream, as literal bytes in every chunking.

import { CAPABILITY_DEADLINE_MS } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { offerStream } from '../../src/carrier/reverse-stream.ts'
import { FedStream } from '../support/memory.ts'

const BINDING = Uint8Array.from({ length: 16 }, (_, at) => 0xf0 + at)
const RECORD = Uint8Array.of(0x16, 0x03, 0x01, 0x02, 0x00)
const ACCEPTED = Uint8Array.of(0x00)

describe('capability', () => {
  it('is sent behind its length, and taken when the relay answers 0x00', async () => {
    const stream = new FedStream().feed(ACCEPTED)
    expect(await offerStream(stream, 'abc')).toBeDefined()
    expect(stream.written).toEqual([Uint8Array.of(0, 3, 0x61, 0x62, 0x63)])
    expect(stream.aborted).toBe(false)
  })

  it.each([
    ['0x01', new FedStream().feed(Uint8Array.of(0x01)).finish()],
    ['the end of the stream', new FedStream().finish()],
  ])('is rejected by %s', async (_, stream) => {
    expect(await offerStream(stream, 'abc')).toBeUndefined()
    expect(stream.aborted).toBe(true)
  })

  it('is not taken by any other byte', async () => {
    const stream = new FedStream().feed(Uint8Array.of(0x02))
    await expect(offerStream(stream, 'abc')).rejects.toMatchObject({ code: 'unexpected_answer' })
    expect(stream.aborted).toBe(true)
  })

  it('must be answered in time (protocol §7.4.3)', async () => {
    vi.useFakeTimers()
    const stream = new FedStream()
    const offer = offerStream(stream, 'abc')
    vi.advanceTimersByTime(CAPABILITY_DEADLINE_MS)
    await expect(offer).rejects.toMatchObject({ code: 'relay_unreachable' })
    expect(stream.aborted).toBe(true)
    vi.useRealTimers()
  })
})

describe('activation', () => {
  const wire = Uint8Array.of(...ACCEPTED, 0x00, 0x00, 0x02, ...BINDING, ...RECORD)

  it.each(Array.from(wire, (_, at) => at))('hands over binding and first bytes, cut at %i', async (at) => {
    const stream = new FedStream().feed(
      ...[wire.slice(0, at), wire.slice(at)].filter(({ length }) => length > 0),
    )
    const activation = await (await offerStream(stream.finish(), 'abc'))!.activation()
    expect(activation!.binding).toEqual(BINDING)
    const rest: number[] = []
    for (let chunk = await activation!.stream.read(); chunk; chunk = await activation!.stream.read())
      rest.push(...chunk)
    expect(rest).toEqual([...RECORD])
  })

  it('hands over a stream that came byte by byte, and works both ways', async () => {
    const stream = new FedStream().feed(...Array.from(wire, (byte) => Uint8Array.of(byte)))
    const activation = await (await offerStream(stream, 'abc'))!.activation()
    for (const byte of RECORD) expect(await activation!.stream.read()).toEqual(Uint8Array.of(byte))
    await activation!.stream.write(Uint8Array.of(7))
    await activation!.stream.end()
    activation!.stream.abort()
    expect(stream.written[1]).toEqual(Uint8Array.of(7))
    expect([stream.ended, stream.aborted]).toEqual([true, true])
  })

  it('skips any number of keepalives', async () => {
    const stream = new FedStream().feed(new Uint8Array(100_000), Uint8Array.of(0x02), BINDING)
    expect((await (await offerStream(stream, 'abc'))!.activation())!.binding).toEqual(BINDING)
  })

  it("with 0x01 has no binding, and the bytes behind it are the visitor's", async () => {
    const stream = new FedStream().feed(ACCEPTED, Uint8Array.of(0x00, 0x01, 7, 8))
    const activation = (await (await offerStream(stream, 'abc'))!.activation())!
    expect(activation.binding).toBeUndefined()
    expect(await activation.stream.read()).toEqual(Uint8Array.of(7, 8))
  })

  it.each([
    ['an unknown marker', Uint8Array.of(0x03)],
    ['a binding that is cut off', Uint8Array.of(0x02, 1, 2, 3)],
    ['nothing', new Uint8Array()],
  ])('does not happen for %s: the stream is aborted (protocol §7.5.4)', async (_, bytes) => {
    const stream = new FedStream().feed(ACCEPTED, bytes).finish()
    expect(await (await offerStream(stream, 'abc'))!.activation()).toBeUndefined()
    expect(stream.aborted).toBe(true)
  })

  describe('with a binding that stalls', () => {
    beforeEach(() => void vi.useFakeTimers())
    afterEach(() => vi.useRealTimers())

    it('does not happen', async () => {
      const stream = new FedStream().feed(Uint8Array.of(0x00, 0x02, 1))
      const activation = (await offerStream(stream, 'abc'))!.activation()
      await vi.advanceTimersByTimeAsync(CAPABILITY_DEADLINE_MS)
      expect(await activation).toBeUndefined()
      expect(stream.aborted).toBe(true)
    })
  })
})
