// Asks the system's resolver for the CAA records of a name.

import { type CaaRecord, promises as dns } from 'node:dns'
import { type AskCaa, type CaaProperty, caaAnswer } from '@svc/sdk-core'

/** The answers that say that there are no such records. */
const NONE: readonly unknown[] = ['ENODATA', 'ENOTFOUND']

export const askCaa: AskCaa = async (name) => {
  const [aliases, records] = await Promise.all([found(dns.resolveCname(name)), found(dns.resolveCaa(name))])
  return caaAnswer(aliases !== undefined && aliases.length > 0, records?.flatMap(propertiesOf))
}

/** Node names the property by its tag as it was sent. */
function propertiesOf({ critical, ...record }: CaaRecord): CaaProperty[] {
  return Object.entries(record).map(([tag, value]) => ({ flags: critical, tag, value: String(value) }))
}

/** Resolves with undefined when the resolver says that there are no records. */
async function found<T>(answer: Promise<T[]>): Promise<T[] | undefined> {
  return answer.catch((error) => {
    if (NONE.includes(error.code)) return undefined
    throw error
  })
}
