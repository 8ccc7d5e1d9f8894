// Descriptors of relays that tests invent, signed by keys of their own.

import { createHash, randomBytes } from 'node:crypto'
import { DISCOVERY_VERSION, descriptorTexts, type RelayDescriptor } from '@svc/protocol'
import { privateKeyToAccount } from 'viem/accounts'
import { type Hex, signDigest } from '../../src/core/auth/ethereum-signature.ts'

export interface InventedRelay {
  /** Lower case with `0x`. */
  address: string
  signDigest(digest: Uint8Array): Promise<Uint8Array>
  /** A genuine descriptor that is valid for 5 minutes, unless `fields` say otherwise. */
  describe(origin: string, fields?: Partial<RelayDescriptor>): RelayDescriptor
}

export function inventRelay(): InventedRelay {
  const key: Hex = `0x${randomBytes(32).toString('hex')}`
  const address = privateKeyToAccount(key).address.toLowerCase()
  return {
    address,
    signDigest: async (digest) => signDigest(digest, key),
    describe: (origin, fields) => {
      const unsigned = {
        address,
        version: DISCOVERY_VERSION,
        issued_at: new Date().toISOString(),
        expires_at: new Date(Date.now() + 300_000).toISOString(),
        api_https_addr: origin,
        wireguard_public_key: '',
        wireguard_port: 0,
        supports_overlay: false,
        supports_udp: false,
        supports_tcp: true,
        active_connections: 0,
        tcp_bps: 0,
        ...fields,
      }
      const digest = createHash('sha256').update(descriptorTexts(unsigned)[0]).digest()
      return { ...unsigned, signature: Buffer.from(signDigest(digest, key)).toString('base64') }
    },
  }
}
