// The part of a visitor's address that the output has.

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
  if (!address.includes(':')) return `${address.split('.').slice(0, 3).join('.')}.0/24`
  const [before = ''] = address.split('::')
  const groups = before === '' ? [] : before.split(':')
  return `${groups.slice(0, 3).join(':')}::/48`
}

/** Returns the port that belongs to a whole address; otherwise undefined. */
export function portFor(how: LogAddresses, remote: RemoteAddress | undefined): number | undefined {
  return how === 'full' ? remote?.port : undefined
}
