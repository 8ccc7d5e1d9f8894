// Finds the name servers of a zone as its parent names them, from the top-level domain on, so that no cache is believed.

import { Resolver } from 'node:dns/promises'
import { type AskOptions, ask, type ServerAddress } from './ask.ts'
import { LABELS_MAX, NAME_SERVER_ADDRESSES_MAX, NAME_SERVERS_MAX, QUESTION_TIMEOUT_MS } from './limits.ts'
import type { DnsAnswer, DnsRecord } from './message.ts'

/** A name server with its addresses: an answer from one of them is enough. */
export interface NameServer {
  name: string
  addresses: readonly ServerAddress[]
}

export interface Zone {
  name: string
  servers: readonly NameServer[]
}

export interface ZonesOptions extends AskOptions {
  /** Resolvers that know the name servers of top-level domains, as `ADDRESS` or `ADDRESS:PORT`. @default the system's */
  resolvers?: readonly string[] | undefined
  /** Port of name servers. @default 53 */
  port?: number | undefined
}

export const DNS_PORT = 53
/** Error codes for "no such record", as opposed to no answer. */
const NO_RECORD = ['ENODATA', 'ENOTFOUND']

/** Zones that were found stay known as long as the object: one command asks about several names. */
export class Zones {
  readonly #options: ZonesOptions
  readonly #found = new Map<string, Promise<Zone | undefined>>()

  constructor(options: ZonesOptions) {
    this.#options = options
  }

  /** @returns undefined when no name servers are known. @throws Error when the DNS does not answer */
  zoneOf(name: string): Promise<Zone | undefined> {
    const last = name.split('.').slice(-LABELS_MAX).join('.')
    let zone = this.#found.get(last)
    if (zone === undefined) {
      zone = this.#find(last)
      this.#found.set(last, zone)
    }
    return zone
  }

  async #find(name: string): Promise<Zone | undefined> {
    const [, parent] = /^[^.]+\.(.+)$/.exec(name) ?? []
    const above = parent === undefined ? undefined : await this.zoneOf(parent)
    if (above !== undefined) return (await this.#delegation(above, name)) ?? above
    const names = await this.#lookUp((resolver) => resolver.resolveNs(name))
    return names.length === 0 ? undefined : { name, servers: await this.#withAddresses(names, []) }
  }

  /** What the servers of a zone say of a name below it; undefined when the name belongs to the zone. */
  async #delegation({ servers, name: above }: Zone, name: string): Promise<Zone | undefined> {
    let failure: unknown = new Error(`no name server of ${above} has an address`)
    for (const { name: server, addresses } of servers)
      for (const address of addresses)
        try {
          const answer = await ask(address, { name, type: 'NS' }, this.#options)
          const isUsable = answer.code === 'NOERROR' || answer.code === 'NXDOMAIN'
          if (!isUsable) throw new Error(`answers ${answer.code}`)
          const names = nameServersIn(answer, name)
          if (names.length === 0) return undefined
          return { name, servers: await this.#withAddresses(names, answer.additionals) }
        } catch (error) {
          this.#options.signal?.throwIfAborted()
          failure = new Error(`${server} of ${above} ${(error as Error).message}`)
        }
    throw failure
  }

  /** @param glue addresses that came with the names */
  async #withAddresses(names: readonly string[], glue: readonly DnsRecord[]): Promise<NameServer[]> {
    const { port = DNS_PORT } = this.#options
    return await Promise.all(
      [...new Set(names)].slice(0, NAME_SERVERS_MAX).map(async (name) => {
        const given = glue.filter((one) => one.name === name && (one.type === 'A' || one.type === 'AAAA'))
        const hosts = given.length > 0 ? given.map(({ value }) => value) : await this.#addressesOf(name)
        return {
          name,
          addresses: hosts.slice(0, NAME_SERVER_ADDRESSES_MAX).map((host) => ({ host, port })),
        }
      }),
    )
  }

  async #addressesOf(name: string): Promise<string[]> {
    const families = await Promise.allSettled([
      this.#lookUp((resolver) => resolver.resolve4(name)),
      this.#lookUp((resolver) => resolver.resolve6(name)),
    ])
    return families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []))
  }

  /** @returns an empty list when there is no such record */
  async #lookUp(question: (resolver: Resolver) => Promise<string[]>): Promise<string[]> {
    const { resolvers, signal, timeoutMs = QUESTION_TIMEOUT_MS } = this.#options
    signal?.throwIfAborted()
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
    if (resolvers !== undefined) resolver.setServers(resolvers)
    const cancel = (): void => resolver.cancel()
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      return await question(resolver)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (NO_RECORD.includes(code)) return []
      throw new Error(`the resolver does not answer (${code})`, { cause: error })
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }
}

/** The servers in a referral, or in the answer of a server that has both zones. */
function nameServersIn({ answers, authorities }: DnsAnswer, name: string): string[] {
  return [...answers, ...authorities]
    .filter((record) => record.type === 'NS' && record.name === name)
    .map(({ value }) => value)
}
