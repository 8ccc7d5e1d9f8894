// A descriptor whose texts are not all bounded and plain is refused before anything is computed for it.

import { DESCRIPTOR_SIGNATURE_BYTES } from '@svc/protocol'
import { describe, expect, test } from 'vitest'
import { readDescriptor } from '../../src/features/discovery/descriptor-rules.ts'

const SOUND = {
  address: `0x${'ab'.repeat(20)}`,
  version: '10',
  issued_at: '2026-01-01T00:00:00Z',
  expires_at: '2026-01-01T00:05:00Z',
  api_https_addr: 'https://relay.example',
  wireguard_public_key: 'k'.repeat(44),
  wireguard_port: 51820,
  supports_overlay: false,
  supports_udp: false,
  supports_tcp: false,
  active_connections: 0,
  tcp_bps: 0,
  signature: Buffer.alloc(DESCRIPTOR_SIGNATURE_BYTES, 1).toString('base64'),
}
const TEXTS = Object.entries(SOUND).flatMap(([name, value]) => (typeof value === 'string' ? [name] : []))

describe.each(TEXTS)('%s', (name) => {
  test.each([
    ['longer than 96 characters, or 256 for the origin', 'a'.repeat(257)],
    ['with a character of several bytes', '\u{1f600}'],
    ['with a control character', `${SOUND[name as keyof typeof SOUND]}\n`],
  ])('%s is refused', (_what, value) => {
    expect(readDescriptor(SOUND, false).origin).toBe('https://relay.example')
    const changed = { ...SOUND, [name]: name === 'api_https_addr' ? `https://${value}` : value }
    expect(() => readDescriptor(changed, false)).toThrow()
  })
})
