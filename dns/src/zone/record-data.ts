// RDATA in wire form, of the record types that the zone has.

import { isIPv4, isIPv6 } from 'node:net'
import type { DnsName } from './name.ts'

/** Numbers of record types (IANA, "Resource Record (RR) TYPEs"). */
export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  HINFO: 13,
  TXT: 16,
  AAAA: 28,
  DNAME: 39,
  DS: 43,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  NSEC3: 50,
  NSEC3PARAM: 51,
  CDS: 59,
  CDNSKEY: 60,
  HTTPS: 65,
  /** RFC 9824 §2. */
  NXNAME: 128,
  ANY: 255,
  CAA: 257,
} as const

/** The class IN (RFC 1035 §3.2.4). */
export const CLASS_IN = 1

const STRING_MAX_OCTETS = 255

/** A (RFC 1035 §3.4.1) or AAAA (RFC 3596 §2.2). @throws RangeError */
export function addressData(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  if (!isIPv6(address) || address.includes('%')) throw new RangeError(`${address} is not an IP address`)
  // URLs write an address in one way, with at most one gap and without dots (RFC 5952).
  const [before = '', after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const head = before.split(':').filter(Boolean)
  const tail = (after ?? '').split(':').filter(Boolean)
  const groups = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}

/** TXT with one value, which may be longer than a character string is (RFC 1035 §3.3.14). */
export function textData(value: string): Buffer {
  const bytes = Buffer.from(value)
  const strings: Buffer[] = []
  for (let at = 0; at < Math.max(1, bytes.length); at += STRING_MAX_OCTETS)
    strings.push(characterString(bytes.subarray(at, at + STRING_MAX_OCTETS)))
  return Buffer.concat(strings)
}

/** CAA without flags (RFC 8659 §4.1). @param tag `issue`, `issuewild` or `iodef` */
export function caaData(tag: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), characterString(Buffer.from(tag)), Buffer.from(value)])
}

/**
 * HTTPS for the name itself (RFC 9460 §9), without parameters: each site decides whether it supports HTTP/2 besides the
 * default, HTTP/1.1, and visitors learn that in the handshake (§7.1.2).
 */
export function httpsData(): Buffer {
  // Priority 1, and the root label for "this name" (§2.5.2).
  return Buffer.from([0, 1, 0])
}

export interface StartOfAuthority {
  primary: DnsName
  mailbox: DnsName
  serial: number
  /** Seconds, as the four that follow. */
  refresh: number
  retry: number
  expire: number
  /** The TTL of negative answers (RFC 2308 §4). */
  minimum: number
}

/** SOA (RFC 1035 §3.3.13). */
export function soaData(soa: StartOfAuthority): Buffer {
  const numbers = Buffer.alloc(20)
  const { serial, refresh, retry, expire, minimum } = soa
  for (const [index, value] of [serial, refresh, retry, expire, minimum].entries())
    numbers.writeUInt32BE(value, index * 4)
  return Buffer.concat([nameData(soa.primary), nameData(soa.mailbox), numbers])
}

/** A name in RDATA, in the lower case that signatures need (RFC 4034 §6.2). */
export function nameData(name: DnsName): Buffer {
  return Buffer.from(name.key, 'latin1')
}

/** HINFO as the answer to ANY queries (RFC 8482 §4.2). */
export function minimalAnyData(): Buffer {
  return Buffer.concat([characterString(Buffer.from('RFC8482')), characterString(Buffer.alloc(0))])
}

function characterString(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}
