// Hop routes (wire, "Discovery"): the text that is signed, and which forms are taken.

import { createHash, createPublicKey, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type HopRoute, hopRouteText, parseHopRoute } from '../src/index.ts'

/** Made with the secp256k1 key of 32 bytes 0x01, by OpenSSL. */
const GOOD: HopRoute = {
  owner_public_key: '031b84c5567b126440995d3ed5aaba0565d71e1834604819ff9c17f5e9d5dd078f',
  relay_url: 'https://entry.example',
  public_hostname: 'demo.entry.example',
  route_hostname: 'demo-1a642f0e3c3af545e7acbd38b07251b3990914f1.entry.example',
  hostname_hash: createHash('sha256').update('demo.entry.example').digest('hex'),
  match_token: '',
  metadata: {},
  forward_relay: 'https://exit.example:8443',
  forward_token: 'A'.repeat(43),
  first_seen_at: '2026-01-02T03:04:05.000Z',
  expires_at: '2026-01-02T03:06:05.000Z',
  signature:
    '304402204b95502eaf10abee5db8b2c1b4771cf3b6418c09c3e32b026b1f081af4b1bd74022002a12315555bcf4386cc57a26342eac2b0a5ee63a62eb74c0b9fd68bf2ca8f20',
}

const TEXT =
  '{"purpose":"svc hop route v1","method":"POST",' +
  '"owner_public_key":"031b84c5567b126440995d3ed5aaba0565d71e1834604819ff9c17f5e9d5dd078f",' +
  '"relay_url":"https://entry.example","public_hostname":"demo.entry.example",' +
  '"route_hostname":"demo-1a642f0e3c3af545e7acbd38b07251b3990914f1.entry.example",' +
  `"hostname_hash":"${GOOD.hostname_hash}","match_token":"","metadata":{},` +
  '"forward_relay":"https://exit.example:8443","forward_token":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",' +
  '"first_seen_at":"2026-01-02T03:04:05.000Z","expires_at":"2026-01-02T03:06:05.000Z"}'

it('signs purpose, method and every field but the signature, in the order of the contract', () => {
  expect(hopRouteText('POST', GOOD)).toBe(TEXT)
  expect(hopRouteText('DELETE', GOOD)).toBe(TEXT.replace('"POST"', '"DELETE"'))
})

it('is signed by ECDSA with SHA-256, as DER in hex digits', () => {
  const spki = Buffer.from(`3036301006072a8648ce3d020106052b8104000a032200${GOOD.owner_public_key}`, 'hex')
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  expect(verify('sha256', Buffer.from(TEXT), key, Buffer.from(GOOD.signature, 'hex'))).toBe(true)
})

it('passes no field on that nobody signed', () => {
  expect(parseHopRoute({ ...GOOD, note: 'x' })).toEqual(GOOD)
})

it('has a hostname at the first relay, and a token at each other one (protocol §18.2.1)', () => {
  const later = { ...GOOD, public_hostname: '', match_token: 'B'.repeat(43) }
  expect(parseHopRoute(later)).toEqual(later)
  expect(parseHopRoute({ ...later, match_token: '' })).toBeUndefined()
  expect(parseHopRoute({ ...GOOD, match_token: later.match_token })).toBeUndefined()
})

it('does not lead a relay to itself', () => {
  expect(parseHopRoute({ ...GOOD, forward_relay: GOOD.relay_url })).toBeUndefined()
})

describe('is refused', () => {
  it.each(Object.keys(GOOD))('without %s', (name) => {
    expect(
      parseHopRoute(Object.fromEntries(Object.entries(GOOD).filter(([key]) => key !== name))),
    ).toBeUndefined()
  })

  it.each<[keyof HopRoute, unknown]>([
    ['owner_public_key', GOOD.owner_public_key.toUpperCase()],
    ['owner_public_key', `04${'1b'.repeat(64)}`],
    ['relay_url', 'http://entry.example'],
    ['relay_url', 'https://entry.example/'],
    ['relay_url', 'https://user@entry.example'],
    ['relay_url', `https://${'a.'.repeat(300)}example`],
    ['public_hostname', 'Demo.entry.example'],
    ['public_hostname', '*.entry.example'],
    ['public_hostname', `${'a.'.repeat(127)}example`],
    ['route_hostname', ''],
    ['hostname_hash', GOOD.hostname_hash.slice(1)],
    ['match_token', 'short'],
    ['metadata', null],
    ['metadata', []],
    ['forward_relay', 'wss://exit.example'],
    ['forward_token', ''],
    ['forward_token', `${'A'.repeat(42)}+`],
    ['first_seen_at', '2026-01-02'],
    ['expires_at', '2026-13-02T03:06:05Z'],
    ['expires_at', 1767323165],
    ['signature', 'zz'],
    ['signature', `30${'00'.repeat(72)}`],
  ])('with %s %j', (name, value) => {
    expect(parseHopRoute({ ...GOOD, [name]: value })).toBeUndefined()
  })
})
