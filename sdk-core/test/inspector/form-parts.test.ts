// The parts of a multipart form, however its bytes are cut, and at any size.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FormParts, formPartsOf } from '../../src/inspector/form-parts.ts'
import { PART_BYTES, PARTS_MAX } from '../../src/inspector/limits.ts'
import { bytes } from './entries.ts'

const TYPE = 'multipart/form-data; boundary=----b'
const text = (part: Uint8Array): string => new TextDecoder().decode(part)

const FORM = [
  '------b',
  'Content-Disposition: form-data; name="a"',
  '',
  'one\r\n--not the boundary',
  '------b',
  'content-disposition: form-data; name="f"; filename="C:\\\\x \\"y\\".txt"; filename*=UTF-8\'\'%E2%82%AC.txt',
  'Content-Type: text/plain; charset=utf-8',
  '',
  '',
  '------b--',
  'epilogue',
].join('\r\n')

function partsOf(form: string, cuts: readonly number[] = []): FormParts {
  const found = formPartsOf(TYPE)!
  const all = bytes(form)
  const places = [0, ...cuts.map((cut) => cut % all.length).sort((one, other) => one - other), all.length]
  for (const [index, from] of places.entries()) found.add(all.subarray(from, places[index + 1]))
  return found
}

test('names, file names, types, sizes and beginnings, however the bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 20 }), (cuts) => {
      const { parts } = partsOf(FORM, cuts)
      expect(parts).toMatchObject([
        { name: 'a', fileName: undefined, type: undefined, size: 23 },
        { name: 'f', fileName: '€.txt', type: 'text/plain', size: 0 },
      ])
      expect(text(parts[0]!.beginning)).toBe('one\r\n--not the boundary')
    }),
  )
})

test('single bytes', () => {
  const cuts = Array.from(FORM, (_, index) => index)
  expect(partsOf(FORM, cuts).parts).toHaveLength(2)
})

test('a form of 50 MB takes a few kilobytes, and each file has its size', () => {
  const found = formPartsOf(TYPE)!
  const chunk = crypto.getRandomValues(new Uint8Array(64 * 1024))
  let kept = 0
  for (const name of ['one', 'two']) {
    kept += found.add(
      bytes(`\r\n------b\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.bin"\r\n\r\n`),
    )
    for (let sent = 0; sent < 400; sent += 1) kept += found.add(chunk)
  }
  kept += found.add(bytes('\r\n------b--\r\n'))
  expect(found.parts.map(({ name, size }) => [name, size])).toEqual([
    ['one', 400 * chunk.length],
    ['two', 400 * chunk.length],
  ])
  expect(kept).toBeLessThan(2 * PART_BYTES + 1_000)
})

test('no more than PARTS_MAX parts, and no head without end', () => {
  const part = '\r\n------b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx'
  expect(partsOf(part.repeat(PARTS_MAX + 10)).parts).toHaveLength(PARTS_MAX)
  const found = formPartsOf(TYPE)!
  let kept = found.add(bytes('------b\r\n'))
  for (let sent = 0; sent < 1_000; sent += 1) kept += found.add(bytes('x-a: 0123456789\r\n'))
  expect([found.parts, kept]).toEqual([[], 0])
})

test.each(['application/json', 'multipart/mixed; boundary=a', 'multipart/form-data', undefined])(
  '%s is none',
  (type) => expect(formPartsOf(type)).toBeUndefined(),
)
