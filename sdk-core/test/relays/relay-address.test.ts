// Tests what the SDK reads from the address of a relay by itself.

import { expect, it } from 'vitest'
import { isLocal, networkOf } from '../../src/relays/relay-address.ts'

it.each([
  ['127.0.0.1', true],
  ['10.1.2.3', true],
  ['2130706433', true], // 127.0.0.1, as the URL standard reads it
  ['[::1]', true],
  ['[fd00::1]', true],
  ['[::ffff:10.0.0.1]', true],
  ['localhost', true],
  ['a.localhost.', true],
  ['8.8.8.8', false],
  ['[2606:4700::1111]', false],
  ['relay.example', false],
  ['localhost.example', false],
])('%s is local: %s', (host, expected) => {
  expect(isLocal(new URL(`https://${host}:8443`))).toBe(expected)
})

it.each([
  ['8.8.8.8', '8.8.8.200', true],
  ['8.8.8.8', '8.8.9.8', false],
  ['[2606:4700:0:ab01::1]', '[2606:4700:0:abff:1::]', true],
  ['[2606:4700:0:ab01::1]', '[2606:4700:0:ac01::1]', false],
  ['[2606::1]', '[2606:0:0:1::1]', true],
  ['a.relays.example', 'b.relays.example:8443', true],
  ['relay.one.example', 'relay.two.example', false],
])('%s and %s are of one network: %s', (one, other, expected) => {
  const [a, b] = [one, other].map((host) => networkOf(new URL(`https://${host}`)))
  expect(a === b).toBe(expected)
})
