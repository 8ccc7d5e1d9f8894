// Asks the system's resolver for the CAA records of a name.

import { promises as dns } from 'node:dns'
import type { AskCaa } from '@svc/sdk-core'

/** The answers that say that there are no such records. */
const NONE: readonly unknown[] = ['ENODATA', 'ENOTFOUND']

export const askCaa: AskCaa = async (name) => {
  const [aliases, records] = await Promise.all([found(dns.resolveCname(name)), found(dns.resolveCaa(name))])
  return {
    isAlias: aliases !== undefined && aliases.length > 0,
    issue: records?.flatMap(issuesOf),
  }
}

/** Node names the property by its tag as it was sent, whose case means nothing (RFC 8659 §4.1). */
function issuesOf(record: object): string[] {
  return Object.entries(record).flatMap(([tag, value]) =>
    tag.toLowerCase() === 'issue' ? String(value) : [],
  )
}

/** Resolves with undefined when the resolver says that there are no records. */
async function found<T>(answer: Promise<T[]>): Promise<T[] | undefined> {
  return answer.catch((error) => {
    if (NONE.includes(error.code)) return undefined
    throw error
  })
}
