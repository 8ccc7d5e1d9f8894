// The relay's own descriptor: what it says, how long it holds, and that others of the protocol family can verify it.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { descriptorTexts, verifyDescriptor } from '@svc/protocol'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { signerOf } from '../../../sdk-core/src/identity/key.ts'
import { addressOfPublicKey, checksumAddress } from '../../src/core/auth/ethereum-address.ts'
import { recoverTextSigner } from '../../src/core/auth/ethereum-signature.ts'
import { DescriptorSignatures } from '../../src/features/discovery/descriptor-signatures.ts'
import { OwnDescriptor, type OwnState } from '../../src/features/discovery/own-descriptor.ts'
import { inventRelay } from '../support/descriptors.ts'

const ORIGIN = 'https://relay.example'
let state: OwnState = { udp: false, tcp: true, connections: 3, bytes: 1_000 }
let time = 5_000_000
vi.mock('../../src/core/clock.ts', async (original) => ({
  ...(await original<object>()),
  now: () => time,
  toWallTime: (at: number) => at,
}))
afterEach(() => {
  state = { udp: false, tcp: true, connections: 3, bytes: 1_000 }
})

describe('the own descriptor', () => {
  test('says what the relay does now, is valid for 10 minutes, and verifies', async () => {
    const relay = inventRelay()
    const own = new OwnDescriptor(ORIGIN, relay, () => state)
    time += 2_000
    state = { udp: true, tcp: false, connections: 7, bytes: 9_000 }
    const descriptor = await own.current()
    expect(descriptor).toEqual({
      address: checksumAddress(relay.address),
      version: '9',
      issued_at: new Date(time).toISOString(),
      expires_at: new Date(time + 600_000).toISOString(),
      api_https_addr: ORIGIN,
      wireguard_public_key: '',
      wireguard_port: 0,
      supports_overlay: false,
      supports_udp: true,
      supports_tcp: false,
      active_connections: 7,
      tcp_bps: 4_000,
      signature: expect.any(String),
    })
    expect(await verifyDescriptor(descriptor, time, signerOf)).toEqual({ descriptor })
  })

  test('has version 10 and the whole text with an overlay, whose fields nobody else can change', async () => {
    const overlay = { wireguardPublicKey: 'a'.repeat(43), wireguardPort: 51_820 }
    const own = new OwnDescriptor(ORIGIN, inventRelay(), () => ({ ...state, overlay }))
    const descriptor = await own.current()
    expect(descriptor).toMatchObject({ version: '10', supports_overlay: true, wireguard_port: 51_820 })
    expect(await verifyDescriptor(descriptor, time, signerOf)).toEqual({ descriptor })
    for (const change of [{ wireguard_port: 51_821 }, { supports_overlay: false }])
      expect(await verifyDescriptor({ ...descriptor, ...change }, time, signerOf)).toEqual({
        fault: 'forged',
      })
  })

  test('without an overlay gets none from whoever passes it on', async () => {
    const descriptor = await new OwnDescriptor(ORIGIN, inventRelay(), () => state).current()
    const changed = { ...descriptor, supports_overlay: true, wireguard_port: 51_820 }
    expect(await verifyDescriptor(changed, time, signerOf)).toEqual({ fault: 'forged' })
  })

  test('has its address with the checksum of EIP-55, since other relays of the family verify the text with that (protocol §14.2.1)', async () => {
    const address = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'
    const own = new OwnDescriptor(ORIGIN, { ...inventRelay(), address }, () => state)
    expect((await own.current()).address).toBe('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed')
  })

  test('is signed once in 10 s, however often it is asked for', async () => {
    const relay = inventRelay()
    const sign = vi.spyOn(relay, 'signDigest')
    const own = new OwnDescriptor(ORIGIN, relay, () => state)
    const first = await own.current()
    time += 9_999
    expect(await own.current()).toBe(first)
    expect(sign).toHaveBeenCalledTimes(1)
    time += 1
    expect(Date.parse((await own.current()).issued_at)).toBe(Date.parse(first.issued_at) + 10_000)
    expect(sign).toHaveBeenCalledTimes(2)
  })

  test('has the compact form of a signature, as the other relays of the family read it (protocol §14.2.3)', async () => {
    const firsts = new Set<number>()
    for (let i = 0; i < 24; i++) {
      const { signature } = await new OwnDescriptor(ORIGIN, inventRelay(), () => state).current()
      const bytes = Buffer.from(signature, 'base64')
      expect(bytes).toHaveLength(65)
      firsts.add(bytes[0]!)
    }
    expect(firsts).toEqual(new Set([31, 32]))
  })
})

/**
 * Literal descriptors of three keys, as the public Go source of the family's relays makes them: the JSON of its descriptor, the text
 * that its `CanonicalBytes` returns, and the compact signature of github.com/decred/dcrd/dcrec/secp256k1 4.4.0 with a compressed key.
 */
const FAMILY = [
  {
    json: '{"address":"0x5E87556D1c1815B86748b339F3feB4e414Ca7DA4","version":"10","issued_at":"2026-01-02T03:04:05.123456789Z","expires_at":"2026-01-02T03:09:05.123456789Z","api_https_addr":"https://relay.example","wireguard_public_key":"mdOCxeOQxNVCPwanqyfoyGPRLiUtcRZ2PbXpNTVBmRA=","wireguard_port":51820,"supports_overlay":true,"supports_udp":true,"supports_tcp":true,"active_connections":12,"tcp_bps":48211.625,"signature":"IDw1TmoRF+Hs+PpvqLeg1ND7a1dzNSM8gkTnFZbkgfaTQQMK+QouwVN4UJcK9CBtwVGFsztfJ+nskf+VVRVLAEk="}',
    text: '{"address":"0x5E87556D1c1815B86748b339F3feB4e414Ca7DA4","version":"10","issued_at_unix_nano":1767323045123456789,"expires_at_unix_nano":1767323345123456789,"api_https_addr":"https://relay.example","wireguard_public_key":"mdOCxeOQxNVCPwanqyfoyGPRLiUtcRZ2PbXpNTVBmRA=","wireguard_port":51820,"supports_overlay":true,"supports_udp":true,"supports_tcp":true,"active_connections":12,"tcp_bps":48211.625}',
  },
  {
    json: '{"address":"0x3603feee025f52Fd466B0E4740Ef1bE637D3C5f4","version":"10","issued_at":"2026-01-02T03:04:05.123456789Z","expires_at":"2026-01-02T03:09:05.123456789Z","api_https_addr":"https://relay.example:8443","tcp_bps":1.5e-7,"signature":"IN38JcNyb9wwE/GUUZf8R/Kf1jnZwl6FHyFV82m24gSmL1sMJTj4VV7l8Msf/zZmWL6wOb8lLoFGbPOmjPNtOGE="}',
    text: '{"address":"0x3603feee025f52Fd466B0E4740Ef1bE637D3C5f4","version":"10","issued_at_unix_nano":1767323045123456789,"expires_at_unix_nano":1767323345123456789,"api_https_addr":"https://relay.example:8443","wireguard_public_key":"","wireguard_port":0,"supports_overlay":false,"supports_udp":false,"supports_tcp":false,"active_connections":0,"tcp_bps":1.5e-7}',
  },
  {
    json: '{"address":"0x8bBAEACf4911A2911aff56cC97569AE33aB1d0bc","version":"10","issued_at":"2026-01-02T03:04:05.123456789Z","expires_at":"2026-01-02T03:09:05.123456789Z","api_https_addr":"https://relay.example","active_connections":9007199254740991,"tcp_bps":1.25e+21,"signature":"H31eKGnbUcsuZoENAC14znTplPqRtxl98e8LNsT0my+bC+aywvlE5Yovrcij6ERliFa88Fh1w9Il1Sxt/YpCZLU="}',
    text: '{"address":"0x8bBAEACf4911A2911aff56cC97569AE33aB1d0bc","version":"10","issued_at_unix_nano":1767323045123456789,"expires_at_unix_nano":1767323345123456789,"api_https_addr":"https://relay.example","wireguard_public_key":"","wireguard_port":0,"supports_overlay":false,"supports_udp":false,"supports_tcp":false,"active_connections":9007199254740991,"tcp_bps":1.25e+21}',
  },
]

test.each(FAMILY)(
  'a descriptor of another relay of the family verifies, and has the text that was signed there',
  async ({ json, text }) => {
    const { descriptor } = await verifyDescriptor(
      JSON.parse(json),
      Date.parse('2026-01-02T03:05:00Z'),
      signerOf,
    )
    expect(descriptor).toBeDefined()
    expect(descriptorTexts(descriptor!)[0]).toBe(text)
    expect(
      await new DescriptorSignatures(async (...signed) => recoverTextSigner(...signed)).isGenuine(
        descriptor!,
      ),
    ).toBe(true)
    const forged = { ...descriptor!, supports_udp: !descriptor!.supports_udp }
    expect(await verifyDescriptor(forged, Date.parse('2026-01-02T03:05:00Z'), signerOf)).toEqual({
      fault: 'forged',
    })
  },
)

/**
 * The text that is signed, written out from the documented fields; OpenSSL signs it. A relay of the family leaves out what is
 * empty, false or 0, and writes the compact form.
 */
test.each([
  ['10', '"wireguard_public_key":"","wireguard_port":0,"supports_overlay":false,'],
  ['9', ''],
])(
  'a descriptor of version %s that OpenSSL signs verifies, as a relay of the family sends it',
  async (version, overlay) => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-openssl-'))
    const openssl = (command: string): Buffer =>
      execFileSync('openssl', command.split(' '), { cwd: directory, stdio: 'pipe' })
    try {
      openssl('ecparam -name secp256k1 -genkey -noout -out key.pem')
      const address = addressOfPublicKey(openssl('ec -in key.pem -pubout -outform DER').subarray(-65))
      const text =
        `{"address":"${address}","version":"${version}",` +
        '"issued_at_unix_nano":1767319445123456789,"expires_at_unix_nano":1767319745123456789,' +
        `"api_https_addr":"https://relay.example",${overlay}` +
        '"supports_udp":false,"supports_tcp":true,"active_connections":0,"tcp_bps":1.5}'
      writeFileSync(join(directory, 'text'), text)
      const sent = {
        address,
        version,
        issued_at: '2026-01-02T02:04:05.123456789Z',
        expires_at: '2026-01-02T02:09:05.123456789Z',
        api_https_addr: 'https://relay.example',
        supports_tcp: true,
        tcp_bps: 1.5,
      }
      const { r, s } = integersOf(openssl('dgst -sha256 -sign key.pem text'))
      const verdicts = await Promise.all(
        [31, 32].map((first) => {
          const signature = Buffer.concat([Uint8Array.of(first), r, s]).toString('base64')
          return verifyDescriptor({ ...sent, signature }, Date.parse('2026-01-02T02:05:00Z'), signerOf)
        }),
      )
      const genuine = verdicts.flatMap(({ descriptor }) => descriptor ?? [])
      expect(genuine).toHaveLength(1)
      expect(descriptorTexts(genuine[0]!)[0]).toBe(text)
    } finally {
      rmSync(directory, { recursive: true })
    }
  },
)

/** The two integers of an ECDSA signature in DER, 32 bytes each. */
function integersOf(der: Buffer): { r: Buffer; s: Buffer } {
  const [rBytes, sBytes] = [der[3]!, der[5 + der[3]!]!]
  const padded = (integer: Buffer): Buffer => Buffer.concat([Buffer.alloc(32), integer]).subarray(-32)
  const r = padded(der.subarray(4, 4 + rBytes))
  return { r, s: padded(der.subarray(6 + rBytes, 6 + rBytes + sBytes)) }
}
