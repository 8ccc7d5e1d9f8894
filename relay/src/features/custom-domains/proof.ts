// Reads from TXT records who owns a domain (docs/protocol.md §9.5).

import type { DnsClient } from '@svc/dns/client'
import { normalizeAddress, ownershipRecordName, ownershipRecordValue } from '@svc/protocol'
import { QUOTED_MAX_CHARS } from './limits.ts'

/**
 * What the records say about an identity.
 * - `proven`: every server has exactly one value, and it is the identity's
 * - `other`: the same, with the address of another identity
 * - `unproven`: anything else; `why` is for people
 */
export type Proof = { kind: 'proven' } | { kind: 'other'; why: string } | { kind: 'unproven'; why: string }

const PREFIX = 'svc-address='

/** @param address of the identity, in lower case. Never rejects */
export async function lookUpProof(
  client: Pick<DnsClient, 'lookUp'>,
  domain: string,
  address: string,
): Promise<Proof> {
  const record = ownershipRecordName(domain)
  try {
    const steps = await client.lookUp(record, 'TXT')
    const [{ answers, name }] = steps.slice(-1) as [(typeof steps)[number]]
    const place = steps.length > 1 ? `${record} (an alias of ${name})` : record
    // Also of the aliases on the way: a server that is silent may have another one.
    const silent = steps.flatMap((step) => step.answers).find(({ problem }) => problem !== undefined)
    if (silent === undefined) return readProof(answers, place, address)
    return unproven(`${silent.server} ${silent.problem}, so it does not say what is at ${place}`)
  } catch (error) {
    return unproven(`the records at ${record} cannot be looked up: ${reasonOf(error)}`)
  }
}

/** Why a look-up as a whole has failed, for people. */
export function reasonOf(error: unknown): string {
  const { name, message } = error as Error
  return name === 'TimeoutError' ? 'the look-up took too long' : message
}

type Answers = Awaited<ReturnType<DnsClient['lookUp']>>[number]['answers']

/** @param place the record's name, for the reason */
function readProof(answers: Answers, place: string, address: string): Proof {
  const wanted = ownershipRecordValue(address)
  const claims = answers.map(({ server, records }) => ({
    server,
    claimed: claimsOf(records.filter(({ type }) => type === 'TXT').map(({ value }) => value)),
  }))
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

function unproven(why: string): Proof {
  return { kind: 'unproven', why }
}

/** The different values that claim the domain; those of other purposes do not count. */
function claimsOf(values: readonly string[]): string[] {
  const claims = values.map((value) => value.trim()).filter((value) => value.toLowerCase().startsWith(PREFIX))
  return [...new Set(claims.map((claim) => claim.toLowerCase()))]
}
