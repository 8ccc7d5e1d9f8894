// The differences of two answers.

import { expect, test } from 'vitest'
import { compared } from '../../src/inspector/compare.ts'
import { answer, entry, type Given } from './entries.ts'

const compare = (one: Given & { status?: number }, other: Given & { status?: number }, isUnmasked = false) =>
  compared(entry({ response: answer(one) }), entry({ response: answer(other) }), isUnmasked)

test('status, fields and lines of JSON, which is indented', async () => {
  const json: [string, string] = ['content-type', 'application/json']
  const one = {
    status: 200,
    headers: [json, ['etag', '1'], ['date', 'a']] as [string, string][],
    body: '{"a":1,"b":2}',
  }
  const other = {
    status: 500,
    headers: [json, ['x-new', '2'], ['date', 'b']] as [string, string][],
    body: '{"a":1,"c":3}',
  }
  expect(await compare(one, other)).toEqual({
    status: [200, 500],
    headers: [
      { name: 'etag', one: '1', other: undefined },
      { name: 'x-new', one: undefined, other: '2' },
    ],
    lines: [
      { kind: 'same', text: '{' },
      { kind: 'same', text: '  "a": 1,' },
      { kind: 'removed', text: '  "b": 2' },
      { kind: 'added', text: '  "c": 3' },
      { kind: 'same', text: '}' },
    ],
    cut: false,
  })
})

test('a secret that differs is said to differ, and not shown', async () => {
  const one = { headers: [['set-cookie', 'sid=one']] as [string, string][] }
  const other = { headers: [['set-cookie', 'sid=two']] as [string, string][] }
  expect((await compare(one, other)).headers).toEqual([
    { name: 'set-cookie', one: 'sid=••••••', other: 'sid=••••••' },
  ])
  expect((await compare(one, other, true)).headers).toMatchObject([{ one: 'sid=one', other: 'sid=two' }])
})

test('long contents are compared in part, and one that has no answer with nothing', async () => {
  const lines = (word: string): string =>
    Array.from({ length: 5_000 }, (_, index) => `${word} ${index}`).join('\n')
  const { cut, lines: found } = await compare({ body: lines('a') }, { body: lines('b') })
  expect([cut, found.length]).toEqual([true, 2_000])
  const none = await compared(
    entry({ response: undefined }),
    entry({ response: answer({ body: 'a' }) }),
    false,
  )
  expect(none).toMatchObject({ status: [undefined, 200], lines: [{ kind: 'added', text: 'a' }] })
})
