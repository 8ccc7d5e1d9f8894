// What a dedicated TCP port takes the first bytes of both sides for, by literal bytes, in any pieces.

import { expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import {
  FIRST_BYTES_HELD_MAX,
  FirstAnswer,
  FirstBytes,
  type FirstBytesVerdict,
} from '../../src/core/bridge/first-bytes.ts'

const VICTIM = 'victim.relay.example'
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

/** The verdict of each piece. */
function verdicts(...pieces: (string | Uint8Array)[]): FirstBytesVerdict[] {
  const first = new FirstBytes((hostname) => hostname === VICTIM)
  return pieces.map((piece) => first.push(typeof piece === 'string' ? latin1(piece) : piece))
}

test.each([
  ['GET / HTTP/1.1\r\nHost: victim.relay.example:34100\r\n\r\n'],
  ['GET / HTTP/1.1\r\nHost: victim.relay.example\r\n\r\n'],
  ['GET / HTTP/1.1\r\nHost:victim.relay.example\r\n\r\n'],
  ['GET / HTTP/1.1\r\nhOsT: \t VICTIM.Relay.Example.:34100 \r\n\r\n'],
  ['POST /a?b HTTP/1.0\r\nAccept: */*\r\nHost: victim.relay.example\r\n\r\nbody'],
  ['OPTIONS / HTTP/1.1\nHost: victim.relay.example\n\n'],
  ['PROPFIND / HTTP/1.1\r\nHost: victim.relay.example\r\n\r\n'],
  ['GET http://victim.relay.example:34100/ HTTP/1.1\r\nHost: other.example\r\n\r\n'],
  ['GET https://user@victim.relay.example HTTP/1.1\r\nHost: other.example\r\n\r\n'],
])('a request with the name is refused before its last byte is there: %j', (text) => {
  expect(verdicts(text)).toEqual(['refuse'])
  const inBytes = verdicts(...text)
  const end = inBytes.indexOf('refuse')
  expect(end).toBeGreaterThan(0)
  // No server answers a request of which it has the method and how its target begins.
  const start = (/^\S+ (?:\/|https?:\/\/)/.exec(text)?.[0] ?? '').length - 1
  expect(inBytes.slice(0, end)).toEqual(inBytes.slice(0, end).map((_, at) => (at < start ? 'more' : 'hold')))
})

test.each([
  ['another name', 'GET / HTTP/1.1\r\nHost: own.relay.example:34100\r\n\r\n'],
  ['an address', 'GET / HTTP/1.1\r\nHost: 192.0.2.1:34100\r\n\r\n'],
  ['an IPv6 address', 'GET / HTTP/1.1\r\nHost: [2001:db8::1]:34100\r\n\r\n'],
  ['no name', 'GET / HTTP/1.0\r\n\r\n'],
  ['the name in another field', 'GET / HTTP/1.0\r\nX-Host: victim.relay.example\r\n\r\n'],
  ['the name in a body', 'POST / HTTP/1.1\r\nHost: a.example\r\n\r\nHost: victim.relay.example\r\n'],
  ['HTTP/0.9', 'GET /\r\nHost: victim.relay.example\r\n\r\n'],
  ['a version of the future', 'GET / HTTP/3.0\r\nHost: victim.relay.example\r\n\r\n'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['SSH', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['SMTP', 'EHLO victim.relay.example\r\n'],
  ['Redis', '*1\r\n$4\r\nPING\r\n'],
  ['a line of text', 'hello, world'],
  ['bytes', '\x00\x01\x02\x03'],
  ['PostgreSQL', '\x00\x00\x00\x08\x04\xd2\x16\x2f'],
  ['what begins like TLS', '\x16\x04'],
  ['a record that is no ClientHello', '\x16\x03\x01\x00\x04\x02\x00\x00\x00'],
])('%s passes', (_, text) => {
  expect(verdicts(text)).toEqual(['pass'])
})

test.each([[''], ['h'], ['hello'], ['GET'], ['GET '], ['GET h'], ['GET https:/'], ['\x16']])(
  '%j may be anything, and waits for nothing',
  (text) => {
    expect(verdicts(text)).toEqual(['more'])
  },
)

test('a name behind more than servers read is refused, whatever the line is', () => {
  const path = 'a'.repeat(FIRST_BYTES_HELD_MAX - 16)
  expect(verdicts(`GET /${path}`, 'aaaaaaaaaaa')).toEqual(['hold', 'refuse'])
  const fields = 'X-Field: value\r\n'.repeat(FIRST_BYTES_HELD_MAX / 16)
  expect(verdicts(`GET / HTTP/1.1\r\n${fields}Host: own.relay.example\r\n\r\n`)).toEqual(['pass'])
  expect(verdicts('GET / HTTP/1.1\r\n', fields)).toEqual(['hold', 'refuse'])
})

test('a ClientHello with the name is refused, in one piece and in many; one with another passes', async () => {
  const hello = await captureHello(VICTIM)
  expect(verdicts(hello)).toEqual(['refuse'])
  const pieces = [...hello].map((byte) => Uint8Array.of(byte))
  const expected = pieces.map((_, at) => (at === 0 ? 'more' : at < pieces.length - 1 ? 'hold' : 'refuse'))
  expect(verdicts(...pieces)).toEqual(expected)
  expect(verdicts(await captureHello('own.relay.example'))).toEqual(['pass'])
})

test.each([
  ['HTTP/1.1 200 OK\r\n', 'wait'],
  ['\r\n\r\nHTTP/1.1 200 OK\r\n', 'wait'],
  ['http/1.0 200 OK\r\n', 'wait'],
  ['ICY 200 OK\r\n', 'wait'],
  ['HTT', 'more'],
  ['220 mail.example ESMTP\r\n', 'pass'],
  ['SSH-2.0-OpenSSH_9.2\r\n', 'pass'],
  ['220 ', 'more'],
])('a site that speaks first with %j', (text, verdict) => {
  expect(new FirstAnswer().push(latin1(text))).toBe(verdict)
})

test('an unasked answer of HTTP is kept back in pieces, too', () => {
  const answer = new FirstAnswer()
  expect(['H', 'TT', 'P'].map((text) => answer.push(latin1(text)))).toEqual(['more', 'more', 'wait'])
})
