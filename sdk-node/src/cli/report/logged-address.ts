// The part of a visitor's address that the output has.

import { addressBytes, addressText, IPV4_BYTES } from '@svc/protocol/ip-address'
import type { RemoteAddress } from '@svc/sdk-core'
import type { LogAddresses } from '../options/tunnel-options.ts'

/** Returns the address; its network, a /24 of IPv4 or a /48 of IPv6; or undefined. */
export function addressFor(
  how: LogAddresses,
  remote: Pick<RemoteAddress, 'address'> | undefined,
): string | undefined {
  if (how === 'off' || remote === undefined) return undefined
  const { address } = remote
  if (how === 'full') return address
  const bytes = addressBytes(address)
  if (bytes === undefined) return undefined
  const network = bytes.length === IPV4_BYTES ? 3 : 6
  const shortened = Uint8Array.from(bytes, (byte, at) => (at < network ? byte : 0))
  return `${addressText(shortened)}/${8 * network}`
}

/** Returns the port that belongs to a whole address; otherwise undefined. */
export function portFor(how: LogAddresses, remote: RemoteAddress | undefined): number | undefined {
  return how === 'full' ? remote?.port : undefined
}
