// Derives a relay's address on the overlay from its WireGuard key, so that nobody has to assign addresses.

import { createHash } from 'node:crypto'
import { OVERLAY_PREFIX } from '../../../core/client-address/ip-address.ts'

/** The network of all relays, as routes and rules need it. */
export const OVERLAY_NETWORK: string = `${OVERLAY_PREFIX}/48`

const KEY_BYTES = 32
/** Bytes of an address after the prefix. Finding another key with the same address takes 2^80 attempts. */
const SUFFIX_BYTES = 10

/** Returns whether the text is the canonical base64 of a key. */
export function isWireGuardKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === KEY_BYTES && bytes.toString('base64') === text
}

/**
 * The IPv6 address: {@link OVERLAY_PREFIX} and the first 80 bits of the SHA-256 of the key, as RFC 5952 writes it.
 * @param publicKey 32 bytes in base64
 */
export function overlayAddressOf(publicKey: string): string {
  const digest = createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('hex')
  const groups = digest.slice(0, 2 * SUFFIX_BYTES).match(/.{4}/g)!
  const [network] = OVERLAY_PREFIX.split('::')
  return new URL(`http://[${network}:${groups.join(':')}]`).hostname.slice(1, -1)
}
