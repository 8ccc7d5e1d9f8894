// Holds the proxies whose client addresses the relay trusts: addresses and ranges from TRUSTED_PROXIES.

import { BlockList, isIP } from 'node:net'
import { normalizeIp } from './ip-address.ts'

const PREFIX_MAX = { 4: 32, 6: 128 } as const

export class TrustedProxies {
  /** The configured text. */
  readonly text: string
  readonly #list = new BlockList()

  /**
   * @param text addresses and CIDR ranges (RFC 4632 §3.1, RFC 4291 §2.3), separated by commas
   * @throws Error with the part that is neither
   */
  constructor(text: string) {
    this.text = text
    for (const part of text.split(',')) if (part.trim() !== '') this.#add(part.trim())
  }

  /** @param ip normalized; empty for a peer that has disconnected, which is not a proxy */
  has(ip: string): boolean {
    const family = isIP(ip)
    return family !== 0 && this.#list.check(ip, family === 6 ? 'ipv6' : 'ipv4')
  }

  #add(part: string): void {
    const [address = '', prefix, ...rest] = part.split('/')
    const family = isIP(address) as 0 | 4 | 6
    // Peers are compared by their normalized address, where neither an IPv4 address in IPv6 nor a zone occurs.
    const isNormal = family !== 0 && isIP(normalizeIp(address) ?? '') === family && !address.includes('%')
    if (!isNormal || rest.length > 0) throw new Error(`"${part}" is not an IP address or CIDR range`)
    const bits =
      prefix === undefined ? PREFIX_MAX[family] : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
    if (!(bits <= PREFIX_MAX[family]))
      throw new Error(`"${part}" needs a prefix length from 0 to ${PREFIX_MAX[family]}`)
    this.#list.addSubnet(address, bits, family === 6 ? 'ipv6' : 'ipv4')
  }
}
