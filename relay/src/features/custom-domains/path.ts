// Finds out whether a domain leads to this relay, and which records would lead it here.

import type { DnsClient, LookUpStep } from '@svc/dns/client'
import { type DomainRecord, ownershipRecordName, ownershipRecordValue } from '@svc/protocol'
import type { Lease } from '../../core/lease/lease.ts'
import { ADDRESSES_MAX } from './limits.ts'
import { reasonOf } from './proof.ts'

export interface Addresses {
  ipv4: readonly string[]
  ipv6: readonly string[]
}

/**
 * Returns why visitors of the domain do not come to this relay, for people; undefined if they do. Never rejects.
 * @param way `mayTell`: whether the reason may have an address, since resolvers of the operator know others than public ones
 */
export async function pathProblem(
  client: Pick<DnsClient, 'lookUp'>,
  domain: string,
  way: { lease: Lease; rootHost: string; known: Addresses; mayTell(address: string): boolean },
): Promise<string | undefined> {
  const { lease, rootHost, known, mayTell } = way
  const isHere = (name: string): boolean => name === rootHost || lease.hostnames.includes(name)
  try {
    const families = await Promise.all([
      client.lookUp(domain, 'A', isHere),
      client.lookUp(domain, 'AAAA', isHere),
    ])
    if (families.some((steps) => isHere(steps.at(-1)?.target ?? ''))) return undefined
    const found = families.flatMap(addressesIn)
    const ours = new Set([...known.ipv4, ...known.ipv6])
    if (found.some((address) => ours.has(address))) return undefined
    if (found.length === 0) return `it has neither a CNAME record that leads to this relay nor an address`
    const told = found.filter(mayTell).slice(0, ADDRESSES_MAX)
    return `it leads to ${told.join(', ') || 'no public address'}, and not to this relay`
  } catch (error) {
    return `its addresses cannot be looked up: ${reasonOf(error)}`
  }
}

/** Looks up the addresses of a name as visitors do; none if that fails. Never rejects. */
export async function addressesOf(client: Pick<DnsClient, 'lookUp'>, hostname: string): Promise<Addresses> {
  const find = (type: 'A' | 'AAAA'): Promise<string[]> =>
    client.lookUp(hostname, type).then(addressesIn, () => [])
  const [ipv4, ipv6] = await Promise.all([find('A'), find('AAAA')])
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

/** The addresses at the end of the aliases. */
function addressesIn(steps: readonly LookUpStep[]): string[] {
  const records = steps.at(-1)?.answers.flatMap((answer) => answer.records) ?? []
  const addresses = records.filter(({ type }) => type !== 'CNAME').map(({ value }) => value)
  return [...new Set(addresses)].sort()
}
