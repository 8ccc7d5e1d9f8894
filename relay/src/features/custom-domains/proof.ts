// Reads from TXT records who owns a domain (docs/protocol.md §9.5).

import { normalizeAddress, ownershipRecordName, ownershipRecordValue } from '@svc/protocol'
import { QUOTED_MAX_CHARS } from './limits.ts'
import type { Answers, Lookup } from './lookup.ts'

/**
 * What the records say about an identity.
 * - `proven`: every server has exactly one value, and it is the identity's
 * - `other`: the same, with the address of another identity
 * - `unproven`: anything else; `why` is for people
 */
export type Proof = { kind: 'proven' } | { kind: 'other'; why: string } | { kind: 'unproven'; why: string }

const PREFIX = 'svc-address='

/** @param address of the identity, in lower case. Never rejects */
export async function lookUpProof(lookup: Lookup, domain: string, address: string): Promise<Proof> {
  const record = ownershipRecordName(domain)
  const { answers, names } = await lookup.follow(record, 'TXT')
  const place = names.length > 1 ? `${record} (an alias of ${names.at(-1)})` : record
  return readProof(answers, place, address)
}

/** @param place the record's name, for the reason */
function readProof(answers: Answers, place: string, address: string): Proof {
  const unproven = (why: string): Proof => ({ kind: 'unproven', why })
  const wanted = ownershipRecordValue(address)
  if (answers.length === 0) return unproven(`no name server of ${place} is known`)
  const silent = answers.find(({ values }) => values === undefined)
  if (silent !== undefined)
    return unproven(`${silent.server} does not say what is at ${place}: ${silent.failure}`)
  const claims = answers.map(({ server, values = [] }) => ({ server, claimed: claimsOf(values) }))
  const without = claims.find(({ claimed }) => claimed.length === 0)
  if (without !== undefined) return unproven(`${without.server} has no TXT record at ${place} with ${wanted}`)
  const values = new Set(claims.flatMap(({ claimed }) => claimed))
  if (values.size > 1)
    return unproven(`there are several values ${PREFIX}… at ${place}: only one may be there`)
  const [value = ''] = values
  if (value === wanted) return { kind: 'proven' }
  if (normalizeAddress(value.slice(PREFIX.length)) === undefined)
    return unproven(`the value at ${place} is not ${wanted}: ${value.slice(0, QUOTED_MAX_CHARS)}`)
  return { kind: 'other', why: `the value at ${place} names another identity: it has to be ${wanted}` }
}

/** The different values that claim the domain; those of other purposes do not count. */
function claimsOf(values: readonly string[]): string[] {
  const claims = values.map((value) => value.trim()).filter((value) => value.toLowerCase().startsWith(PREFIX))
  return [...new Set(claims.map((claim) => claim.toLowerCase()))]
}
