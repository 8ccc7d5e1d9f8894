// Resolves names that strangers chose. With the system's resolver, a silent name server would block one of its few
// threads, and so every other lookup of the process.

import { lookup as systemLookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'

/** Time for the first question to a name server about a name that a stranger chose. The second one has twice as much. */
const STRANGERS_DNS_TIMEOUT_MS = 1_500
/** Addresses of such a name that are dialled, of each family: a name server may name thousands. */
const STRANGERS_ADDRESSES_MAX = 2

export interface NameLookupOptions {
  /** Which names the system's resolver resolves, with its hosts file: those of the operator. */
  isOfSystem: (hostname: string) => boolean
  /** Ends all queries. */
  signal: AbortSignal
  /** Name servers, in the form of `Resolver.setServers`. @default the system's */
  servers?: readonly string[]
}

/**
 * A lookup in the form of `dns.lookup`. It returns IPv4 addresses first, and only a few of those that a name server
 * lists.
 */
export function createNameLookup({ isOfSystem, signal, servers }: NameLookupOptions): LookupFunction {
  return (hostname, options, callback) => {
    if (isOfSystem(hostname)) return systemLookup(hostname, options, callback)
    addressesOf(hostname, signal, servers).then(
      (addresses) => {
        if (options.all) callback(null, addresses)
        else callback(null, addresses[0]!.address, addresses[0]!.family)
      },
      (error) => callback(error, []),
    )
  }
}

/** @returns one at least. @throws the errors of the resolver */
async function addressesOf(
  hostname: string,
  signal: AbortSignal,
  servers: readonly string[] | undefined,
): Promise<{ address: string; family: number }[]> {
  signal.throwIfAborted()
  // Each reads the system's servers, which may have changed.
  const resolver = new Resolver({ timeout: STRANGERS_DNS_TIMEOUT_MS, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  const cancel = (): void => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const found = answers.flatMap((answer, index) =>
      answer.status === 'rejected'
        ? []
        : answer.value
            .slice(0, STRANGERS_ADDRESSES_MAX)
            .map((address) => ({ address, family: index === 0 ? 4 : 6 })),
    )
    const [first] = answers
    if (found.length === 0) throw first.status === 'rejected' ? first.reason : new Error('no address')
    return found
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
