// The records that follow from the zone's key: DNSKEY, CDS, CDNSKEY, and DS of the parent zone.

import { createHash } from 'node:crypto'
import { DnsName } from '../zone/name.ts'
import { nameData } from '../zone/record-data.ts'
import { ZONE_KEY_ALGORITHM, type ZoneKey } from './zone-key.ts'

/** Zone key, and secure entry point: the key signs keys and records alike (RFC 4034 §2.1.1). */
const FLAGS = 257
/** RFC 4034 §2.1.2. */
const PROTOCOL = 3
/** SHA-256 (RFC 4509 §5). */
const DIGEST_TYPE = 2

/** The RDATA of DNSKEY (RFC 4034 §2.1), and of CDNSKEY (RFC 7344 §3.2). */
export function dnskeyData({ publicKey }: ZoneKey): Buffer {
  const head = Buffer.from([FLAGS >> 8, FLAGS & 0xff, PROTOCOL, ZONE_KEY_ALGORITHM])
  return Buffer.concat([head, Buffer.from(publicKey, 'hex')])
}

/** The RDATA of DS (RFC 4034 §5.1), and of CDS (RFC 7344 §3.1). */
export function dsData(key: ZoneKey): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16BE(keyTagOf(key))
  head[2] = ZONE_KEY_ALGORITHM
  head[3] = DIGEST_TYPE
  return Buffer.concat([head, digestOf(key)])
}

/** DS in the presentation format (RFC 4034 §5.3), without owner, TTL and class, for a registrar. */
export function dsText(key: ZoneKey): string {
  return `${keyTagOf(key)} ${ZONE_KEY_ALGORITHM} ${DIGEST_TYPE} ${digestOf(key).toString('hex').toUpperCase()}`
}

/** RFC 4034 appendix B. */
export function keyTagOf(key: ZoneKey): number {
  let sum = 0
  for (const [index, octet] of dnskeyData(key).entries()) sum += index % 2 === 0 ? octet << 8 : octet
  return (sum + (sum >>> 16)) & 0xffff
}

function digestOf(key: ZoneKey): Buffer {
  const owner = nameData(DnsName.parse(key.zone))
  return createHash('sha256').update(owner).update(dnskeyData(key)).digest()
}
