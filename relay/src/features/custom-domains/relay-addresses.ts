// Knows the addresses at which visitors reach the relay: the operator's, or those to which its names resolve.

import type { DnsClient } from '@svc/dns/client'
import { monotonic } from '../../core/clock.ts'
import { isLocalhost, type Settings } from '../../core/config/settings.ts'
import { RELAY_ADDRESSES_MS } from './limits.ts'
import { type Addresses, addressesOf } from './path.ts'

const NONE: Addresses = { ipv4: [], ipv6: [] }
const LOCAL: Addresses = { ipv4: ['127.0.0.1'], ipv6: ['::1'] }

export class RelayAddresses {
  readonly #configured: Settings['publicAddresses']
  readonly #isLocal: boolean
  #found = NONE
  #foundAt = Number.NEGATIVE_INFINITY

  constructor({ publicAddresses, rootHost }: Pick<Settings, 'publicAddresses' | 'rootHost'>) {
    this.#configured = publicAddresses
    this.#isLocal = isLocalhost(rootHost)
  }

  /** As far as they are known now. */
  get known(): Addresses {
    if (this.#isLocal) return LOCAL
    const { ipv4 = this.#found.ipv4, ipv6 = this.#found.ipv6 } = this.#configured
    return { ipv4, ipv6 }
  }

  /** Looks them up unless it did so a moment ago. Never rejects. @param hostname of a site at this relay */
  async find(client: Pick<DnsClient, 'lookUp'>, hostname: string): Promise<Addresses> {
    const { ipv4, ipv6 } = this.#configured
    const isDue = monotonic() - this.#foundAt >= RELAY_ADDRESSES_MS
    if (this.#isLocal || (ipv4 !== undefined && ipv6 !== undefined) || !isDue) return this.known
    const found = await addressesOf(client, hostname)
    // A look-up that fails, as that of a domain whose servers are slow, proves nothing.
    if (found.ipv4.length + found.ipv6.length === 0) return this.known
    this.#found = found
    this.#foundAt = monotonic()
    return this.known
  }
}
