// Finds out whether a domain leads to this relay, and which records would lead it here.

import { type DomainRecord, ownershipRecordName, ownershipRecordValue } from '@svc/protocol'
import type { Lease } from '../../core/lease/lease.ts'
import { ADDRESSES_MAX } from './limits.ts'
import type { Answers, Lookup } from './lookup.ts'

export interface Addresses {
  ipv4: readonly string[]
  ipv6: readonly string[]
}

/** Returns why visitors of the domain do not come to this relay, for people; undefined if they do. Never rejects. */
export async function pathProblem(
  lookup: Lookup,
  domain: string,
  { lease, rootHost, known }: { lease: Lease; rootHost: string; known: Addresses },
): Promise<string | undefined> {
  const isHere = (name: string): boolean => name === rootHost || lease.hostnames.includes(name)
  const end = (await lookup.aliases(domain, isHere)).at(-1) as string
  if (isHere(end)) return undefined
  const { ipv4, ipv6 } = await addressesOf(lookup, end)
  const found = [...ipv4, ...ipv6]
  const ours = new Set([...known.ipv4, ...known.ipv6])
  if (found.some((address) => ours.has(address))) return undefined
  if (found.length === 0) return `it has neither a CNAME record that leads to this relay nor an address`
  return `it leads to ${found.slice(0, ADDRESSES_MAX).join(', ')}, and not to this relay`
}

/** Looks up the addresses of a name as visitors do. Never rejects. */
export async function addressesOf(lookup: Lookup, hostname: string): Promise<Addresses> {
  const [ipv4, ipv6] = await Promise.all([
    lookup.follow(hostname, 'A').then(({ answers }) => valuesOf(answers)),
    lookup.follow(hostname, 'AAAA').then(({ answers }) => valuesOf(answers)),
  ])
  return { ipv4, ipv6 }
}

/**
 * All records that the owner of a domain has to set: the proof, and addresses or, in their place, an alias. An alias takes the domain's
 * CAA records from the relay's zone (RFC 8659 §3), so addresses come first.
 */
export function recordsOf(
  domain: string,
  { lease, known, isApex }: { lease: Lease; known: Addresses; isApex: boolean },
): DomainRecord[] {
  const proof: DomainRecord = {
    type: 'TXT',
    name: ownershipRecordName(domain),
    value: ownershipRecordValue(lease.identity.address),
  }
  const of = (type: 'A' | 'AAAA', addresses: readonly string[]): DomainRecord[] =>
    addresses.slice(0, ADDRESSES_MAX).map((value) => ({ type, name: domain, value }))
  const addresses = [...of('A', known.ipv4), ...of('AAAA', known.ipv6)]
  // At an apex many providers have ALIAS or ANAME records with the same value.
  const needsAlias = !isApex || addresses.length === 0
  const alias: DomainRecord = { type: 'CNAME', name: domain, value: lease.canonicalHostname }
  return [proof, ...addresses, ...(needsAlias ? [alias] : [])]
}

function valuesOf(answers: Answers): string[] {
  return [...new Set(answers.flatMap(({ values = [] }) => values))].sort()
}
