// Request lines behind bodies, wherever the bytes of a connection are cut into pieces.

import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { RequestLines } from '../../src/http/request-lines.ts'

const LINE = 'GET /x HTTP/1.1\r\n'
const HEAD = `${LINE}\r\n`
const parsed = (headers: IncomingMessage['headers']) =>
  ({ method: 'GET', url: '/x', httpVersion: '1.1', headers }) as IncomingMessage

test.each([
  ['no body', {}, ''],
  ['a body with a length', { 'content-length': `${HEAD.length}` }, HEAD],
  ['chunks', { 'transfer-encoding': 'chunked' }, `0013\r\n${HEAD}\r\nA;x=0\r\n0123456789\r\n0\r\n\r\n`],
  [
    'chunks with trailers',
    { 'transfer-encoding': 'chunked' },
    `13\r\n${HEAD}\r\n000;x\r\nX: 1\r\nY: 2\r\n\r\n`,
  ],
])('%s', (_what, headers, body) => {
  for (const [second, isGood] of [
    [HEAD, true],
    [`\r\n\r\n${HEAD}`, true],
    [HEAD.replace(' ', '  '), false],
    [`\r\n\r\n\r\n${HEAD}`, false],
    [`\r${HEAD}`, false],
  ] as const) {
    const bytes = Buffer.from(HEAD + body + second)
    for (let cut = 0; cut <= bytes.length; cut++) {
      const lines = new RequestLines()
      const taken: boolean[] = []
      /** As the parser does, which tells a head amid the piece in which that ends. */
      const append = (from: number, to: number) => {
        lines.append(bytes.subarray(from, to))
        if (from < HEAD.length && HEAD.length <= to) taken.push(lines.takeLineOf(parsed(headers)))
        if (from < bytes.length && to === bytes.length) taken.push(lines.takeLineOf(parsed({})))
      }
      append(0, cut)
      append(cut, bytes.length)
      expect([cut, ...taken]).toEqual([cut, true, isGood])
    }
  }
})

test('no request is taken behind a chunk whose size has more digits than the SDKs take', () => {
  const lines = new RequestLines()
  lines.append(Buffer.from(`${HEAD}0000000000001\r\na\r\n0\r\n\r\n${HEAD}`))
  expect(lines.takeLineOf(parsed({ 'transfer-encoding': 'chunked' }))).toBe(true)
  expect(lines.takeLineOf(parsed({}))).toBe(false)
})
