// The registration message (EIP-4361): one form, and nothing that differs from it is taken for it.

import { expect, test } from 'vitest'
import { isSiweFor, registrationPurpose, siweMessage } from '../src/index.ts'

const expected = {
  ...registrationPurpose('relay.example:4433'),
  address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  requestId: 'rch_0123456789abcdef',
}
const fields = {
  ...expected,
  nonce: 'abcdefgh12345678',
  issuedAt: '2026-01-01T00:00:00.000Z',
  expirationTime: '2026-01-01T00:02:00.000Z',
}

test('the message, line by line', () => {
  expect(siweMessage(fields)).toBe(`relay.example:4433 wants you to sign in with your Ethereum account:
0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed

Register a svc lease

URI: https://relay.example:4433/sdk/register
Version: 1
Chain ID: 1
Nonce: abcdefgh12345678
Issued At: 2026-01-01T00:00:00.000Z
Expiration Time: 2026-01-01T00:02:00.000Z
Request ID: rch_0123456789abcdef`)
})

test('has the statement and the URI that the caller gives', () => {
  const login = { ...expected, statement: 'Sign in', uri: 'https://relay.example:4433/login' }
  const message = siweMessage({ ...fields, ...login })
  expect(message).toContain(`\n\nSign in\n\nURI: https://relay.example:4433/login\n`)
  expect(isSiweFor(message, login)).toBe(true)
  expect(isSiweFor(message, expected)).toBe(false)
})

test('is signed by a client that expects it', () => {
  expect(isSiweFor(siweMessage(fields), expected)).toBe(true)
})

test.each([
  ['another relay', { ...expected, domain: 'relay.example' }],
  ['another statement', { ...expected, statement: 'Register an svc lease' }],
  ['another URI', { ...expected, uri: 'https://relay.example:4433/sdk/renew' }],
  ['another identity', { ...expected, address: expected.address.toLowerCase() }],
  ['another request', { ...expected, requestId: 'rch_0123456789abcdee' }],
])('%s is refused', (_what, other) => expect(isSiweFor(siweMessage(fields), other)).toBe(false))

test('one byte more, less or other anywhere is refused, but in what the relay may choose', () => {
  const message = siweMessage(fields)
  const chosen = [fields.nonce, fields.issuedAt, fields.expirationTime]
  const free = (at: number) =>
    chosen.some((text) => at >= message.indexOf(text) && at < message.indexOf(text) + text.length)
  for (let at = 0; at < message.length; at++) {
    if (free(at)) continue
    const changed = [
      `${message.slice(0, at)}~${message.slice(at + 1)}`,
      message.slice(0, at) + message.slice(at + 1),
    ]
    for (const text of changed) expect(isSiweFor(text, expected)).toBe(false)
  }
  expect(isSiweFor(`${message}\n`, expected)).toBe(false)
  expect(isSiweFor(`${message}\nResources:\n- https://bank.example`, expected)).toBe(false)
})
