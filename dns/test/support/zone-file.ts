// Writes a zone as a file, signed in the classic way: with the records and signatures of the zone's answers, and with a chain
// of NSEC records, which the zone itself never gives away.
import { presentTypesBitmap } from '../../src/dnssec/denial.ts'
import { Signer } from '../../src/dnssec/signer.ts'
import type { ZoneKey } from '../../src/dnssec/zone-key.ts'
import type { ResourceRecord } from '../../src/zone/answer.ts'
import { DnsName } from '../../src/zone/name.ts'
import { TYPE } from '../../src/zone/record-data.ts'
import { recordSet } from '../../src/zone/record-set.ts'
import type { Zone } from '../../src/zone/zone.ts'

const { A, AAAA, CAA, CDNSKEY, CDS, DNSKEY, HTTPS, NS, SOA, TXT } = TYPE
const TYPES = [SOA, NS, A, AAAA, TXT, CAA, HTTPS, DNSKEY, CDS, CDNSKEY]

/** @param names of the zone that have records, the apex among them */
export function zoneFile(zone: Zone, key: ZoneKey, names: readonly string[]): string {
  const sorted = names.map((name) => DnsName.parse(name)).sort(canonicalOrder)
  const signer = new Signer(key)
  const records = sorted.flatMap((name, index) => {
    const found = TYPES.flatMap(
      (type) => zone.answer({ name, type }, true, { isAddressProven: true }).answers,
    )
    const types = new Set(found.map(({ type }) => type).filter((type) => type !== TYPE.RRSIG))
    const next = sorted[(index + 1) % sorted.length]!
    const bitmap = presentTypesBitmap([...types])
    const nsec = recordSet(TYPE.NSEC, 60, [Buffer.concat([Buffer.from(next.key, 'latin1'), bitmap])])
    const proof = { name, type: TYPE.NSEC, ttl: 60, data: Buffer.from(nsec.data[0]!, 'latin1') }
    const signature = { ...proof, type: TYPE.RRSIG, data: signer.sign(name.key, nsec, Date.now()) }
    return [...found, proof, signature]
  })
  return `${records.map(lineOf).join('\n')}\n`
}

/** Any type is written in the form of RFC 3597 §5. */
function lineOf({ name, type, ttl, data }: ResourceRecord): string {
  return `${name}. ${ttl} IN TYPE${type} \\# ${data.length} ${data.toString('hex')}`
}

/** RFC 4034 §6.1, for names of ASCII: by their labels from the last one. */
function canonicalOrder(one: DnsName, other: DnsName): number {
  const key = (name: DnsName): string => String(name).split('.').reverse().join('\0')
  return key(one) < key(other) ? -1 : 1
}
