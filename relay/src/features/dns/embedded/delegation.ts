// Checks whether the public DNS leads to this relay's name server for its zone, by a record that only this relay has.

import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { DELEGATION_PROBE_MS, DELEGATION_QUESTION_MS } from '../limits.ts'
import type { DnsProvider } from '../provider.ts'

const TOKEN_BYTES = 16
const ATTEMPTS = 3

/**
 * Publishes a random value at a random name and asks for it. No cache can have the name, so that the answer comes from
 * the name server to which the parent zone delegates. Never rejects.
 * @param resolvers `address` or `address:port`; those of the system by default
 */
export async function isDelegatedHere(
  provider: Pick<DnsProvider, 'addTxt' | 'removeTxt'>,
  rootHost: string,
  { signal, resolvers }: { signal?: AbortSignal | undefined; resolvers?: readonly string[] | undefined } = {},
): Promise<boolean> {
  const name = `_delegation-${randomBytes(TOKEN_BYTES).toString('hex')}.${rootHost}`
  const value = randomBytes(TOKEN_BYTES).toString('hex')
  const resolver = new Resolver({ timeout: DELEGATION_QUESTION_MS, tries: 1 })
  if (resolvers !== undefined) resolver.setServers(resolvers)
  const timeout = AbortSignal.timeout(DELEGATION_PROBE_MS)
  const end = signal === undefined ? timeout : AbortSignal.any([signal, timeout])
  const cancel = (): void => resolver.cancel()
  end.addEventListener('abort', cancel)
  try {
    await provider.addTxt(name, value)
    for (let attempt = 0; attempt < ATTEMPTS && !end.aborted; attempt++)
      if (await hasValue(resolver, name, value)) return true
    return false
  } catch {
    return false
  } finally {
    end.removeEventListener('abort', cancel)
    await provider.removeTxt(name, value).catch(() => {})
  }
}

async function hasValue(resolver: Resolver, name: string, value: string): Promise<boolean> {
  const texts = await resolver.resolveTxt(name).catch(() => [])
  return texts.some((strings) => strings.join('') === value)
}
