// Checks whether the relay could look up the records of custom domains.

import { Resolver } from 'node:dns/promises'
import { type Found, off, ok, warning } from '../../core/check/finding.ts'
import { isLocalhost, type Settings } from '../../core/config/settings.ts'

/** How long the check waits for the resolvers. */
const QUESTION_TIMEOUT_MS = 2_000

export async function checkCustomDomains({ customDomains, rootHost }: Settings): Promise<Found[]> {
  const { isEnabled, resolvers } = customDomains
  if (!isEnabled) return [off('The relay leads no custom domains to sites: CUSTOM_DOMAINS is false.')]
  const asked = resolvers === undefined ? 'the name servers of each domain' : resolvers.join(', ')
  const found = [ok(`Sites may have domains of their own, whose records the relay looks up at ${asked}.`)]
  // A relay for the development may have no network.
  if (isLocalhost(rootHost) && resolvers === undefined) return found
  const resolver = new Resolver({ timeout: QUESTION_TIMEOUT_MS, tries: 1 })
  if (resolvers !== undefined) resolver.setServers(resolvers)
  const who = resolvers === undefined ? "this system's resolvers do" : `${resolvers.join(', ')} did`
  try {
    await resolver.resolveNs('.')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return [warning(`Custom domains cannot be proven: ${who} not name the root servers (${code}).`)]
  }
  return found
}
