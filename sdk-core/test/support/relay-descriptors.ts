// Descriptors of relays, signed as real ones are.

import { createHash } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { descriptorTexts, type RelayDescriptor } from '@svc/protocol'
import { identityFromKey } from '../../src/identity/key.ts'

const KEY = new Uint8Array(32).fill(7)

/** Returns the descriptor of a relay at `url`, which is valid for a minute unless `fields` say otherwise. */
export function describeRelay(url: string, fields: Partial<RelayDescriptor> = {}): RelayDescriptor {
  const descriptor: RelayDescriptor = {
    address: identityFromKey(KEY).address,
    version: '0.1.0',
    issued_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 60_000).toISOString(),
    api_https_addr: url,
    wireguard_public_key: '',
    wireguard_port: 0,
    supports_overlay: false,
    supports_udp: true,
    supports_tcp: true,
    active_connections: 0,
    tcp_bps: 0,
    signature: '',
    ...fields,
  }
  const hash = createHash('sha256').update(descriptorTexts(descriptor)[0]).digest()
  const [recovery, ...rs] = secp256k1.sign(hash, KEY, { prehash: false, format: 'recovered' })
  return { ...descriptor, signature: Buffer.from([...rs, 27 + recovery!]).toString('base64') }
}
