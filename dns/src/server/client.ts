// The client of a query: its address as bytes, and its network for rate limits.

import { isIPv6 } from 'node:net'
import { addressData } from '../zone/record-data.ts'
import { FNV_START, fnv } from './hash.ts'

const IPV4_BYTES = 4
const IPV6_BYTES = 16
/** The prefix bytes of networks that share one rate: an IPv4 /24 and an IPv6 /56. */
const IPV4_NETWORK_BYTES = 3
const IPV6_NETWORK_BYTES = 7
/** The prefix of an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2). */
const MAPPED: Buffer = Buffer.from('00000000000000000000ffff', 'hex')
const DOT = 0x2e
const ZERO = 0x30
const COLON = 0x3a

/** The address of a client in network order. The object is reused for all queries. */
export class Client {
  readonly bytes: Buffer = Buffer.alloc(IPV6_BYTES)
  /** 4 or 16. */
  length: number = IPV4_BYTES

  /** @param address the address from a socket, perhaps with a zone */
  set(address: string): this {
    if (!this.#setIpv4(address)) this.#setIpv6(address)
    return this
  }

  /** Bytes of {@link bytes} that name the network. */
  get networkLength(): number {
    return this.length === IPV4_BYTES ? IPV4_NETWORK_BYTES : IPV6_NETWORK_BYTES
  }

  /** The network as a key of maps. */
  get network(): string {
    return this.bytes.toString('latin1', 0, this.networkLength)
  }

  /** 32 bits. */
  get networkHash(): number {
    let hash = fnv(FNV_START, this.length)
    for (let index = 0; index < this.networkLength; index++) hash = fnv(hash, this.bytes[index]!)
    return hash
  }

  #setIpv4(address: string): boolean {
    let [octet, index] = [0, 0]
    for (let at = 0; at < address.length; at++) {
      const char = address.charCodeAt(at)
      if (char === COLON) return false
      if (char === DOT) {
        this.bytes[index++] = octet
        octet = 0
      } else octet = octet * 10 + char - ZERO
    }
    this.bytes[index] = octet
    this.length = IPV4_BYTES
    return true
  }

  #setIpv6(address: string): void {
    const [withoutZone = ''] = address.split('%', 1)
    const bytes = isIPv6(withoutZone) ? addressData(withoutZone) : Buffer.alloc(IPV6_BYTES)
    const isMapped = bytes.subarray(0, MAPPED.length).equals(MAPPED)
    this.length = isMapped ? IPV4_BYTES : IPV6_BYTES
    bytes.copy(this.bytes, 0, isMapped ? MAPPED.length : 0)
  }
}
