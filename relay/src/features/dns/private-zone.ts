// Whether a host is in a zone that only resolvers of its own network know, whose servers the public DNS does not name.

import { Resolver } from 'node:dns/promises'
import { DnsClient, type DnsClientOptions } from '@svc/dns/client'
import { DNS_QUESTION_TIMEOUT_MS } from './limits.ts'

type Asked = Pick<DnsClientOptions, 'resolvers' | 'port'>

/**
 * @returns whether the resolvers know an address of the host, and no server of its public zone says that it knows one. Never rejects
 */
export async function isInPrivateZone(host: string, asked: Asked = {}): Promise<boolean> {
  const [isKnown, isPublic] = await Promise.all([resolves(host, asked), isAtNameServers(host, asked)])
  return isKnown && !isPublic
}

async function resolves(host: string, { resolvers }: Asked): Promise<boolean> {
  const resolver = new Resolver({ timeout: DNS_QUESTION_TIMEOUT_MS, tries: 1 })
  if (resolvers !== undefined) resolver.setServers(resolvers)
  const families = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return families.some((family) => family.status === 'fulfilled' && family.value.length > 0)
}

async function isAtNameServers(host: string, asked: Asked): Promise<boolean> {
  const client = new DnsClient({ ...asked, timeoutMs: DNS_QUESTION_TIMEOUT_MS })
  try {
    const families = await Promise.all([client.lookUp(host, 'A'), client.lookUp(host, 'AAAA')])
    return families.some((steps) => steps.at(-1)!.answers.some(({ records }) => records.length > 0))
  } catch {
    return false
  }
}
