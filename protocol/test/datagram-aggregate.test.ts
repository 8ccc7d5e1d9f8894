// Aggregates of datagrams: literal bytes, whatever bytes there are, and what is put together.

import { describe, expect, test } from 'vitest'
import fc from '../../tools/fast-check.ts'
import { DatagramAggregator, datagramsOf, encodeAggregate, encodeDatagram } from '../src/index.ts'

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))

describe('an aggregate', () => {
  test('is a 0, and each datagram behind its length', () => {
    const bytes = encodeAggregate([hex('01c0ff'), hex('7f'), hex('8001')])
    expect(bytes).toEqual(hex('000003' + '01c0ff' + '0001' + '7f' + '0002' + '8001'))
    expect(datagramsOf(bytes)).toEqual([hex('01c0ff'), hex('7f'), hex('8001')])
  })

  test('of any datagrams gives them back', () => {
    const datagram = fc
      .tuple(fc.integer({ min: 1, max: 2 ** 32 - 1 }), fc.uint8Array({ maxLength: 1200 }))
      .map(([flowId, payload]) => encodeDatagram(flowId, payload))
    fc.assert(
      fc.property(fc.array(datagram, { minLength: 1, maxLength: 20 }), (datagrams) => {
        expect(datagramsOf(encodeAggregate(datagrams))).toEqual(datagrams)
      }),
    )
  })

  test.each([
    ['nothing behind the 0', '00'],
    ['half a length', '0000'],
    ['a length beyond the end', '00000301c0'],
    ['a byte behind the last', '00000101ff'],
  ])('with %s is none, and so a datagram of a flow that does not exist', (_name, text) => {
    expect(datagramsOf(hex(text))).toEqual([hex(text)])
  })

  test('no bytes make more than they hold', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const datagrams = datagramsOf(Uint8Array.of(0, ...bytes))
        expect(datagrams.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(bytes.length + 1)
        expect(datagrams.length).toBeLessThanOrEqual(Math.max(1, bytes.length / 2))
      }),
    )
  })
})

function aggregatorOf(path: number) {
  const passed: Uint8Array[] = []
  const turns: (() => void)[] = []
  const aggregator = new DatagramAggregator({
    pass: (bytes) => void passed.push(bytes),
    maxBytes: () => path,
    atEndOfTurn: (flush) => void turns.push(flush),
  })
  const endTurn = (): void => {
    for (const flush of turns.splice(0)) flush()
  }
  return { aggregator, passed, turns, endTurn }
}

describe('what is sent in a turn of the event loop', () => {
  test('leaves at its end, together and in order; one alone leaves as it is', () => {
    const { aggregator, passed, turns, endTurn } = aggregatorOf(1150)
    const datagrams = [hex('01aa'), hex('02'), hex('01bb')]
    for (const datagram of datagrams) aggregator.push(datagram)
    expect(passed).toEqual([])
    expect(turns.length).toBe(1)
    endTurn()
    expect(passed).toEqual([encodeAggregate(datagrams)])
    aggregator.push(hex('03'))
    endTurn()
    expect(passed.slice(1)).toEqual([hex('03')])
    endTurn()
    expect(passed.length).toBe(2)
  })

  test.each([
    [1150, 1150],
    [1400, 1150],
    [2899, 1150],
    [2900, 2900],
    [16_000, 2900],
  ])(
    'leaves, on a path that takes %i bytes, in aggregates of at most %i (protocol §12.2.4)',
    (path, most) => {
      const { aggregator, passed, endTurn } = aggregatorOf(path)
      const sizes = [1, 500, 647, 1, 1150, 2, 1145, 600, 600, 600, 600, 600, 1147, 1, ...Array(2000).fill(3)]
      const datagrams = sizes.map((size, at) => new Uint8Array(size).fill(1 + (at % 127)))
      for (const datagram of datagrams) aggregator.push(datagram)
      endTurn()
      expect(passed.flatMap(datagramsOf)).toEqual(datagrams)
      for (const bytes of passed) expect(bytes.length).toBeLessThanOrEqual(most)
      // hardly any could have gone with the one before
      expect(passed.length).toBeLessThanOrEqual(
        1 + (2 * passed.reduce((sum, it) => sum + it.length, 0)) / most,
      )
    },
  )
})
