// Verification of descriptors (wire, "Discovery"): which are taken, which are not, and why.

import { describe, expect, it, vi } from 'vitest'
import { descriptorText, type RelayDescriptor, verifyDescriptor } from '../src/index.ts'

const ADDRESS = '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23'
const SIGNATURE = new Uint8Array(65).fill(7)
const NOW = Date.parse('2026-01-02T03:04:05Z')
const GOOD: RelayDescriptor = {
  address: ADDRESS,
  version: '0.1.0',
  issued_at: '2026-01-02T03:00:00Z',
  expires_at: '2026-01-02T03:04:05.001Z',
  api_https_addr: 'https://relay.example',
  wireguard_public_key: '',
  wireguard_port: 0,
  supports_overlay: false,
  supports_udp: false,
  supports_tcp: true,
  active_connections: 0,
  tcp_bps: 0,
  signature: btoa(String.fromCharCode(...SIGNATURE)),
}

/** The relay has signed every text. */
const signer = () => ADDRESS.toLowerCase()

it('asks who signed the text and signature of the descriptor, and gives the descriptor', async () => {
  const recover = vi.fn(signer)
  expect(await verifyDescriptor(GOOD, NOW, recover)).toEqual({ descriptor: GOOD })
  expect(recover).toHaveBeenCalledExactlyOnceWith(descriptorText(GOOD), SIGNATURE)
})

it('waits for an answer that takes time', async () => {
  expect(await verifyDescriptor(GOOD, NOW, async () => ADDRESS)).toEqual({ descriptor: GOOD })
})

it.each([
  ['of another key', () => `0x${'1'.repeat(40)}`],
  ['of no key', () => undefined],
])('a signature %s is forged', async (_whose, recover) => {
  expect(await verifyDescriptor(GOOD, NOW, recover)).toEqual({ fault: 'forged' })
})

it('has expired at the moment that it names, whoever signed it', async () => {
  const recover = vi.fn(signer)
  expect(await verifyDescriptor(GOOD, NOW + 1, recover)).toEqual({ fault: 'expired' })
  expect(recover).not.toHaveBeenCalled()
})

describe('malformed, and no signature is looked at', () => {
  const cases: [string, unknown][] = [
    ['null', null],
    ['text', 'https://relay.example'],
    ['a list', [GOOD]],
    ...Object.keys(GOOD).map((name): [string, unknown] => [
      `without ${name}`,
      { ...GOOD, [name]: undefined },
    ]),
    ['an address of 39 digits', { ...GOOD, address: ADDRESS.slice(0, -1) }],
    ['another URL scheme', { ...GOOD, api_https_addr: 'http://relay.example' }],
    ['a URL with a password', { ...GOOD, api_https_addr: 'https://a:b@relay.example' }],
    ['no URL', { ...GOOD, api_https_addr: 'relay.example' }],
    ['a time in words', { ...GOOD, issued_at: 'yesterday' }],
    ['a time without its zone', { ...GOOD, expires_at: '2026-01-02T03:04:05' }],
    ['a month 13', { ...GOOD, expires_at: '2026-13-02T03:04:05Z' }],
    ['a number as text', { ...GOOD, wireguard_port: '51820' }],
    ['a flag as text', { ...GOOD, supports_tcp: 'true' }],
    ['a signature of 64 bytes', { ...GOOD, signature: btoa('x'.repeat(64)) }],
    ['a signature that is not base64', { ...GOOD, signature: '%'.repeat(88) }],
  ]
  it.each(cases)('%s', async (_what, value) => {
    const recover = vi.fn(signer)
    expect(await verifyDescriptor(value, NOW, recover)).toEqual({ fault: 'malformed' })
    expect(recover).not.toHaveBeenCalled()
  })
})
