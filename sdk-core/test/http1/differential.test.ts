// Against Node's own parser: what it refuses is refused here, and what both take they take for the same.

import { describe, expect, test } from 'vitest'
import { atDepth, TEST_SEED } from '../../../tools/test-depth.ts'
import { SMUGGLING } from './corpus.ts'
import { check, fuzz } from './fuzz.ts'
import { readByNode, readByUs, WAYS } from './readers.ts'
import { latin1 } from './visitor.ts'

const FUZZ_RUNS: number = atDepth(800, 200)
/** A slice tries every third of the pairs of place and octet. */
const STRIDE: number = atDepth(1, 3)
const OCTETS = [0, 9, 10, 11, 13, 32, 34, 44, 48, 58, 59, 127, 255]

describe.each(WAYS)('RFC 9112 §11.2 smuggling vectors, way: %s', (way) => {
  test.each(Object.entries(SMUGGLING))('%s', async (_, text) => {
    const bytes = latin1.encode(text)
    expect(await readByUs([bytes], way)).toEqual([])
    expect(
      await readByUs(
        Array.from(bytes, (octet) => Uint8Array.of(octet)),
        way,
      ),
    ).toEqual([])
  })
})

test('the two readers see what is plainly there, so that their agreement means something', async () => {
  const bytes = latin1.encode(
    'POST /a HTTP/1.1\r\nHost: site.example\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\n' +
      'PUT /b HTTP/1.1\r\nHost: site.example\r\nContent-Length: 2\r\n\r\nhiGET /c HTTP/1.1\r\nHost: site.example\r\n\r\n',
  )
  const expected = [
    { method: 'POST', url: 'https://site.example/a', body: 'hello' },
    { method: 'PUT', url: 'https://site.example/b', body: 'hi' },
    { method: 'GET', url: 'https://site.example/c', body: '' },
  ]
  for (const way of WAYS) expect(await readByUs([bytes], way)).toEqual(expected)
  expect(await readByNode(bytes)).toEqual(expected)
  await check({ bytes, cuts: [1, 50, 100, 150] })
})

test('every octet in every place of a request: nothing that Node refuses is accepted', async () => {
  const bytes = latin1.encode(
    'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;a\r\nb\r\n0\r\nc: d\r\n\r\n',
  )
  for (let at = 0; at < bytes.length; at++) {
    for (let which = at % STRIDE; which < OCTETS.length; which += STRIDE) {
      const changed = bytes.slice()
      changed[at] = OCTETS[which]!
      await check({ bytes: changed, cuts: [] })
    }
  }
})

test('a slice of the fuzzing', async () => {
  const { runs } = await fuzz((runs) => runs < FUZZ_RUNS, TEST_SEED)
  expect(runs).toBeGreaterThanOrEqual(FUZZ_RUNS)
})
