// Verification of descriptors (wire, "Discovery"): which are taken, which are not, and why.

import { describe, expect, it, vi } from 'vitest'
import { descriptorTexts, type RelayDescriptor, verifyDescriptor } from '../src/index.ts'

const ADDRESS = '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23'
const SIGNATURE = Uint8Array.of(...new Uint8Array(64).fill(7), 28)
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

const REQUIRED = ['address', 'version', 'issued_at', 'expires_at', 'api_https_addr', 'signature']
const without = (name: string) => Object.fromEntries(Object.entries(GOOD).filter(([key]) => key !== name))

/** The relay has signed every text. */
const signer = () => ADDRESS.toLowerCase()

it('asks who signed the text and signature of the descriptor, and gives the descriptor', async () => {
  const recover = vi.fn(signer)
  expect(await verifyDescriptor(GOOD, NOW, recover)).toEqual({ descriptor: GOOD })
  expect(recover).toHaveBeenCalledExactlyOnceWith(descriptorTexts(GOOD)[0], SIGNATURE)
})

it.each(Object.keys(GOOD).filter((name) => !REQUIRED.includes(name)))(
  'a relay that leaves %s out has signed its zero value, which the descriptor then has',
  async (name) => {
    const recover = vi.fn(signer)
    const zero = { ...GOOD, supports_tcp: name === 'supports_tcp' ? false : GOOD.supports_tcp }
    expect(await verifyDescriptor(without(name), NOW, recover)).toEqual({ descriptor: zero })
    expect(recover).toHaveBeenCalledExactlyOnceWith(descriptorTexts(zero)[0], SIGNATURE)
  },
)

it('passes no field on that nobody signed', async () => {
  const more = { ...GOOD, note: 'x'.repeat(1000) }
  expect(await verifyDescriptor(more, NOW, signer)).toEqual({ descriptor: GOOD })
})

describe('the compact form of a signature', () => {
  const compact = (first: number) => ({
    ...GOOD,
    signature: btoa(String.fromCharCode(first, ...SIGNATURE.subarray(0, 64))),
  })

  it.each([
    [27, 0],
    [28, 1],
    [31, 0],
    [32, 1],
  ])('with %i first has the recovery bit %i', async (first, bit) => {
    const recover = vi.fn(signer)
    expect(await verifyDescriptor(compact(first), NOW, recover)).toMatchObject({ descriptor: compact(first) })
    expect(recover).toHaveBeenCalledExactlyOnceWith(
      descriptorTexts(GOOD)[0],
      Uint8Array.of(...SIGNATURE.subarray(0, 64), bit),
    )
  })

  it.each([26, 35])('with %i first is forged', async (first) => {
    expect(await verifyDescriptor(compact(first), NOW, signer)).toEqual({ fault: 'forged' })
  })

  it('and the other one are both tried where the bytes can be read in both ways (protocol §14.2.3)', async () => {
    const bytes = Uint8Array.of(31, ...new Uint8Array(63), 1)
    const descriptor = { ...GOOD, signature: btoa(String.fromCharCode(...bytes)) }
    const recover = vi.fn((_: string, signature: Uint8Array) => (signature[0] === 31 ? ADDRESS : undefined))
    expect(await verifyDescriptor(descriptor, NOW, recover)).toEqual({ descriptor })
    expect(recover).toHaveBeenCalledTimes(2)
  })
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
    ...REQUIRED.map((name): [string, unknown] => [`without ${name}`, without(name)]),
    ['an address of 39 digits', { ...GOOD, address: ADDRESS.slice(0, -1) }],
    ['another URL scheme', { ...GOOD, api_https_addr: 'http://relay.example' }],
    ['a URL with a password', { ...GOOD, api_https_addr: 'https://a:b@relay.example' }],
    ['no URL', { ...GOOD, api_https_addr: 'relay.example' }],
    ['a time in words', { ...GOOD, issued_at: 'yesterday' }],
    ['a time without its zone', { ...GOOD, expires_at: '2026-01-02T03:04:05' }],
    ['a month 13', { ...GOOD, expires_at: '2026-13-02T03:04:05Z' }],
    ['a number as text', { ...GOOD, wireguard_port: '51820' }],
    ['a flag as text', { ...GOOD, supports_tcp: 'true' }],
    ['a port of 65536', { ...GOOD, wireguard_port: 65_536 }],
    ['fewer than no connections', { ...GOOD, active_connections: -1 }],
    ['half a connection', { ...GOOD, active_connections: 0.5 }],
    ['less than no traffic', { ...GOOD, tcp_bps: -0.5 }],
    ['a signature with a million blanks', { ...GOOD, signature: `${' '.repeat(1e6)}${GOOD.signature}` }],
    ['a signature of 64 bytes', { ...GOOD, signature: btoa('x'.repeat(64)) }],
    ['a signature that is not base64', { ...GOOD, signature: '%'.repeat(88) }],
  ]
  it.each(cases)('%s', async (_what, value) => {
    const recover = vi.fn(signer)
    expect(await verifyDescriptor(value, NOW, recover)).toEqual({ fault: 'malformed' })
    expect(recover).not.toHaveBeenCalled()
  })
})
