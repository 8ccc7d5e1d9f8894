// Signs record sets with the zone's key (RFC 4034 §3, RFC 6605).

import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { CLOCK_SKEW_MS, SIGNATURE_VALID_MS } from '../zone/limits.ts'
import { DnsName } from '../zone/name.ts'
import { CLASS_IN, nameData } from '../zone/record-data.ts'
import type { RecordSet } from '../zone/record-set.ts'
import { keyTagOf } from './key-records.ts'
import { ZONE_KEY_ALGORITHM, type ZoneKey } from './zone-key.ts'

/** Octets before the signer's name (RFC 4034 §3.1). */
const HEAD_OCTETS = 18
/** Type, class, TTL and the length of the RDATA. */
const FIELDS_OCTETS = 10

export class Signer {
  readonly #key: KeyObject
  readonly #keyTag: number
  readonly #signerName: Buffer

  constructor(key: ZoneKey) {
    this.#key = privateKeyOf(key)
    this.#keyTag = keyTagOf(key)
    this.#signerName = nameData(DnsName.parse(key.zone))
  }

  /**
   * @param owner the key of the set's name
   * @param wallTime the wall clock, in milliseconds since the epoch
   * @returns the RDATA of the RRSIG
   */
  sign(owner: string, set: RecordSet, wallTime: number): Buffer {
    const head = Buffer.alloc(HEAD_OCTETS)
    head.writeUInt16BE(set.type, 0)
    head[2] = ZONE_KEY_ALGORITHM
    head[3] = signedLabels(owner)
    head.writeUInt32BE(set.ttl, 4)
    head.writeUInt32BE(serialTime(wallTime + SIGNATURE_VALID_MS), 8)
    head.writeUInt32BE(serialTime(wallTime - CLOCK_SKEW_MS), 12)
    head.writeUInt16BE(this.#keyTag, 16)
    const unsigned = Buffer.concat([head, this.#signerName])
    const signed = Buffer.concat([unsigned, canonicalRecords(owner, set)])
    const signature = sign('sha256', signed, { key: this.#key, dsaEncoding: 'ieee-p1363' })
    return Buffer.concat([unsigned, signature])
  }
}

function privateKeyOf({ privateKey, publicKey }: ZoneKey): KeyObject {
  const coordinate = (digits: string): string => Buffer.from(digits, 'hex').toString('base64url')
  return createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: coordinate(privateKey),
      x: coordinate(publicKey.slice(0, 64)),
      y: coordinate(publicKey.slice(64)),
    },
  })
}

/** Returns the records in the canonical form for signing (RFC 4034 §3.1.8.1). */
function canonicalRecords(owner: string, { type, ttl, data }: RecordSet): Buffer {
  const name = Buffer.from(owner, 'latin1')
  return Buffer.concat(
    data.flatMap((text) => {
      const fields = Buffer.alloc(FIELDS_OCTETS)
      fields.writeUInt16BE(type, 0)
      fields.writeUInt16BE(CLASS_IN, 2)
      fields.writeUInt32BE(ttl, 4)
      fields.writeUInt16BE(text.length, 8)
      return [name, fields, Buffer.from(text, 'latin1')]
    }),
  )
}

/** Counts labels, without the root's and a leading asterisk (RFC 4034 §3.1.3). */
function signedLabels(owner: string): number {
  let count = owner.startsWith('\u0001*') ? -1 : 0
  for (let at = 0; owner.charCodeAt(at) > 0; at += owner.charCodeAt(at) + 1) count++
  return count
}

/** Seconds since the epoch, modulo 2^32 (RFC 4034 §3.1.5). */
function serialTime(milliseconds: number): number {
  return Math.floor(milliseconds / 1000) >>> 0
}
