// What has to be added so that a domain has its records, and what of others stands in the way: nothing is ever removed.

import { DnsProviderError, type RecordType } from '@svc/dns/providers'
import { whyOpen } from './caa-problem.ts'
import type { RecordStore } from './record-store.ts'
import type { WantedRecord, WantedRecords } from './wanted-records.ts'

export interface Plan {
  add: readonly WantedRecord[]
  /** Records that are there already. */
  kept: readonly WantedRecord[]
  /** What stays, and keeps the domain from being protected. */
  warnings: readonly string[]
}

const OWNER = 'svc-address='

/** @throws DnsProviderError `conflict` that names the record to remove first */
export async function planChanges(wanted: WantedRecords, store: RecordStore): Promise<Plan> {
  const { domain, records } = wanted
  const isNamed = records.some(({ type }) => type === 'CNAME')
  const types: RecordType[] = ['CNAME', 'A', 'AAAA']
  const [proof] = records
  const [owners, ...atDomain] = await inOrder(
    [[proof!.name, 'TXT'] as const, ...types.map((type) => [domain, type] as const)],
    ([name, type]) => store.read(name, type),
  )
  refuse(
    proof!.name,
    'TXT',
    owners!.find((value) => value.startsWith(OWNER) && value !== proof!.value),
  )
  if (!isNamed && atDomain[0]!.includes(wanted.canonical))
    throw new DnsProviderError(
      'conflict',
      `${domain} leads here by a CNAME already: give --cname to keep it, or remove it first for address records`,
    )
  const present = new Map<string, readonly string[]>([['TXT', owners!]])
  for (const [index, type] of types.entries()) {
    const values = atDomain[index]!
    present.set(type, values)
    const mayStay = (value: string): boolean =>
      records.some((one) => one.type === type && one.value === value)
    refuse(
      domain,
      type,
      values.find((value) => !mayStay(value)),
    )
  }
  const caa = records.filter(({ type }) => type === 'CAA').map(({ value }) => value)
  const issuers = caa.length > 0 ? await store.read(domain, 'CAA') : []
  present.set('CAA', issuers)
  const open = caa.length > 0 ? whyOpen(domain, [...caa, ...issuers], caa) : undefined
  const isThere = ({ type, value }: WantedRecord): boolean => present.get(type)?.includes(value) === true
  return {
    add: records.filter((record) => !isThere(record)),
    kept: records.filter(isThere),
    warnings: open === undefined ? [] : [`${open}; the record stays until you remove it`],
  }
}

function refuse(name: string, type: RecordType, foreign: string | undefined): void {
  if (foreign === undefined) return
  throw new DnsProviderError(
    'conflict',
    `${name} has the record ${type} ${foreign}, which svc did not set for this site: remove it yourself if it is not needed`,
  )
}

/** One request after another: providers limit how many they take. */
async function inOrder<T, U>(items: readonly T[], ask: (item: T) => Promise<U>): Promise<U[]> {
  const answers: U[] = []
  for (const item of items) answers.push(await ask(item))
  return answers
}
