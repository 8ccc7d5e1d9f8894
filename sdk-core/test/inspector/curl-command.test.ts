// asCurl, run by a real shell: the words that curl would get are exactly those of the request.

import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { asCurl } from '../../src/inspector/curl-command.ts'

interface Given {
  method?: string
  url?: string
  headers?: readonly (readonly [string, string])[]
  text?: string
  body?: Uint8Array<ArrayBuffer>
  bodyBytes?: number
}

function entry({
  method = 'GET',
  url = 'https://site.example/',
  headers = [],
  ...given
}: Given): Parameters<typeof asCurl>[0] {
  const body = given.body ?? new TextEncoder().encode(given.text ?? '')
  const { bodyBytes = body.length } = given
  return { method, url, request: { headers, trailers: [], body, bodyBytes, parts: undefined } }
}

/** What curl gets: its words and its standard input. */
function run(command: string): { words: string[]; input: Buffer } {
  const curl = `curl() { printf '%s\\0' "$@"; printf '\\0'; case "$*" in *@-) cat;; esac; }; `
  const output = execFileSync('sh', ['-c', curl + command])
  const end = output.indexOf('\0\0')
  return { words: output.subarray(0, end).toString().split('\0'), input: output.subarray(end + 2) }
}

test('GET', () => {
  expect(asCurl(entry({ url: 'https://site.example/a?b={1}' }))).toBe(
    "curl --globoff 'https://site.example/a?b={1}'",
  )
})

test('each method, with and without a body', () => {
  expect(run(asCurl(entry({ method: 'HEAD' }))).words).toContain('--head')
  expect(run(asCurl(entry({ method: 'PUT' }))).words.slice(1, 3)).toEqual(['-X', 'PUT'])
  expect(run(asCurl(entry({ method: 'POST' }))).words.slice(1, 3)).toEqual(['-X', 'POST'])
  expect(run(asCurl(entry({ method: 'POST', text: 'a' }))).words).not.toContain('-X')
})

const HOSTILE = [
  "'; touch /tmp/owned; '",
  '$(id) `id` $HOME \\ " ! * ~ & | ; < > # %s',
  "'\\''",
  '@/etc/passwd',
  '-o /tmp/owned',
  'two\nlines',
]

test.each(HOSTILE)('in the body: %j', (text) => {
  const { words } = run(asCurl(entry({ method: 'POST', text })))
  expect(words).toEqual(['--globoff', 'https://site.example/', '--data-raw', text])
})

test.each(HOSTILE.filter((text) => !text.includes('\n')))('in a field: %j', (text) => {
  const { words } = run(asCurl(entry({ headers: [['x-a', text]] })))
  expect(words).toEqual(['--globoff', 'https://site.example/', '-H', `x-a: ${text}`])
})

test('in the URL: a quote, which WHATWG leaves as it is', () => {
  const url = "https://site.example/';id;'"
  expect(run(asCurl(entry({ url }))).words).toEqual(['--globoff', url])
})

test('an empty field is sent, not removed; those of the connection are left to curl', () => {
  const headers = [
    ['x-a', ''],
    ['host', 'other'],
    ['content-length', '7'],
    ['connection', 'close'],
  ] as const
  expect(run(asCurl(entry({ headers }))).words.slice(2)).toEqual(['-H', 'x-a;'])
})

test('every byte of a body, none of them shown to the terminal', () => {
  const body = Uint8Array.from({ length: 256 }, (_, index) => index)
  const command = asCurl(entry({ method: 'PUT', body }))
  expect(command).toMatch(/^[ -~]+$/)
  expect(Uint8Array.from(run(command).input)).toEqual(body)
  expect(asCurl(entry({ text: '\x1b]0;title\x07' }))).toMatch(/^printf/)
})

test('a body that was not kept whole is refused', () => {
  expect(() => asCurl(entry({ text: 'abc', bodyBytes: 4 }))).toThrow('only 3 bytes')
})
