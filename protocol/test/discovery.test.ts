// The signed text of a relay's descriptor (wire, "Discovery"): literal, byte for byte.

import { expect, it } from 'vitest'
import { descriptorTexts, type RelayDescriptor } from '../src/index.ts'

const DESCRIPTOR: RelayDescriptor = {
  // in another order than is signed
  signature: 'c2ln',
  tcp_bps: 1000,
  active_connections: 3,
  supports_tcp: true,
  supports_udp: false,
  supports_overlay: false,
  wireguard_port: 0,
  wireguard_public_key: '',
  api_https_addr: 'https://relay.example',
  expires_at: '2026-01-02T03:04:05.123456789Z',
  issued_at: '2026-01-02T04:04:05+02:00',
  version: '0.1.0',
  address: '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23',
}

it('has every field but the signature, in the order of the specification, and times in nanoseconds', () => {
  expect(descriptorTexts({ ...DESCRIPTOR, wireguard_port: 51_820 })).toEqual([
    '{"address":"0x2c7536E3605D9C16a7a3D7b1898e529396a65c23","version":"0.1.0",' +
      '"issued_at_unix_nano":1767319445000000000,"expires_at_unix_nano":1767323045123456789,' +
      '"api_https_addr":"https://relay.example","wireguard_public_key":"","wireguard_port":51820,' +
      '"supports_overlay":false,"supports_udp":false,"supports_tcp":true,"active_connections":3,"tcp_bps":1000}',
  ])
})

it('has a second text without the fields of the overlay where they are empty, which is the first in version 9 (protocol §14.2.1, §14.2.2)', () => {
  const short =
    '{"address":"0x2c7536E3605D9C16a7a3D7b1898e529396a65c23","version":"9",' +
    '"issued_at_unix_nano":1767319445000000000,"expires_at_unix_nano":1767323045123456789,' +
    '"api_https_addr":"https://relay.example","supports_udp":false,"supports_tcp":true,"active_connections":3,"tcp_bps":1000}'
  const whole = short.replace(
    '"supports_udp"',
    '"wireguard_public_key":"","wireguard_port":0,"supports_overlay":false,"supports_udp"',
  )
  expect(descriptorTexts({ ...DESCRIPTOR, version: '9' })).toEqual([short, whole])
  const [older, newer] = [whole, short].map((text) => text.replace('"version":"9"', '"version":"10"'))
  expect(descriptorTexts({ ...DESCRIPTOR, version: '10' })).toEqual([older, newer])
})

it.each([{ wireguard_public_key: 'k' }, { wireguard_port: 1 }, { supports_overlay: true }])(
  'with %j only the whole text is signed: whoever passes a descriptor on cannot write that into it',
  (field) => {
    const texts = descriptorTexts({ ...DESCRIPTOR, version: '9', ...field })
    expect(texts).toHaveLength(1)
    expect(texts[0]).toContain('"wireguard_port":')
  },
)
