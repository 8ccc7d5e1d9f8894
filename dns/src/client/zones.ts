// Finds the name servers of a zone as its parent names them, from the top-level domain on, so that no cache is believed.

import { Resolver } from 'node:dns/promises'
import type { ServerAddress } from './ask.ts'
import { LABELS_MAX, NAME_SERVER_ADDRESSES_MAX, NAME_SERVERS_MAX, QUESTION_TIMEOUT_MS } from './limits.ts'
import type { DnsAnswer, DnsRecord } from './message.ts'
import type { Questions, QuestionsOptions } from './questions.ts'

/** A name server: an answer from one of its addresses is enough. */
export interface NameServer {
  name: string
  /** Looks them up when they did not come with the name, once. Those that may not be asked are left out. */
  addresses(): Promise<readonly ServerAddress[]>
}

export interface Zone {
  name: string
  servers: readonly NameServer[]
}

export interface ZonesOptions extends QuestionsOptions {
  /** Resolvers that know the name servers of top-level domains, as `ADDRESS` or `ADDRESS:PORT`. @default the system's */
  resolvers?: readonly string[] | undefined
  /** Port of name servers. @default 53 */
  port?: number | undefined
  /** Whether a name server at this address may be asked: the owner of a zone chooses the address. @default any may */
  mayAsk?: ((address: string) => boolean) | undefined
}

export const DNS_PORT = 53
/** Error codes for "no such record", as opposed to no answer. */
const NO_RECORD = ['ENODATA', 'ENOTFOUND']

/** Zones that were found stay known as long as the object: one command asks about several names. */
export class Zones {
  readonly #options: ZonesOptions
  readonly #questions: Questions
  readonly #found = new Map<string, Promise<Zone | undefined>>()

  constructor(options: ZonesOptions, questions: Questions) {
    this.#options = options
    this.#questions = questions
  }

  /** @returns undefined when no name servers are known. @throws Error when the DNS does not answer, or there are too many labels or servers */
  async zoneOf(name: string): Promise<Zone | undefined> {
    if (name.split('.').length > LABELS_MAX) throw new Error(`${name} has more than ${LABELS_MAX} labels`)
    let zone = this.#found.get(name)
    if (zone === undefined) {
      zone = this.#find(name)
      this.#found.set(name, zone)
    }
    return await zone
  }

  async #find(name: string): Promise<Zone | undefined> {
    const [, parent] = /^[^.]+\.(.+)$/.exec(name) ?? []
    const above = parent === undefined ? undefined : await this.zoneOf(parent)
    if (above !== undefined) return (await this.#delegation(above, name)) ?? above
    const answer = this.#lookUp((resolver) => resolver.resolveNs(name))
    // A resolver of private zones may refuse to speak of the domains above them.
    const names = parent === undefined ? await answer.catch(() => []) : await answer
    this.#questions.signal.throwIfAborted()
    if (names.length === 0) return undefined
    // Resolvers follow aliases: then these are the servers of another zone, whose owner has no say about this name.
    if ((await this.#lookUp((resolver) => resolver.resolveCname(name))).length > 0) return undefined
    return { name, servers: this.#serversOf(name, names, []) }
  }

  /** What the servers of a zone say of a name below it; undefined when the name belongs to the zone. */
  async #delegation({ servers, name: above }: Zone, name: string): Promise<Zone | undefined> {
    let failure: unknown = new Error(`no name server of ${above} has an address that may be asked`)
    for (const { name: server, addresses } of servers)
      for (const address of this.#questions.inOrder(await addresses()))
        try {
          const answer = await this.#questions.ask(address, { name, type: 'NS' })
          const isUsable = answer.code === 'NOERROR' || answer.code === 'NXDOMAIN'
          if (!isUsable) throw new Error(`answers ${answer.code}`)
          const names = nameServersIn(answer, name)
          if (names.length === 0) return undefined
          return { name, servers: this.#serversOf(name, names, answer.additionals) }
        } catch (error) {
          this.#questions.signal.throwIfAborted()
          failure = new Error(`${server} of ${above} ${(error as Error).message}`)
        }
    throw failure
  }

  /** @param glue addresses that came with the names */
  #serversOf(zone: string, names: readonly string[], glue: readonly DnsRecord[]): NameServer[] {
    const { port = DNS_PORT, mayAsk = () => true } = this.#options
    const different = [...new Set(names)]
    if (different.length > NAME_SERVERS_MAX)
      throw new Error(`${zone} has more than ${NAME_SERVERS_MAX} name servers`)
    return different.map((name) => {
      const given = glue.filter((one) => one.name === name && (one.type === 'A' || one.type === 'AAAA'))
      const find = async (): Promise<ServerAddress[]> => {
        const hosts = given.length > 0 ? given.map(({ value }) => value) : await this.#addressesOf(name)
        const asked = hosts.filter(mayAsk).slice(0, NAME_SERVER_ADDRESSES_MAX)
        return asked.map((host) => ({ host, port }))
      }
      let found: Promise<ServerAddress[]> | undefined
      return {
        name,
        addresses() {
          found ??= find()
          return found
        },
      }
    })
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
    const { resolvers, timeoutMs = QUESTION_TIMEOUT_MS } = this.#options
    const { signal } = this.#questions
    this.#questions.take()
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
    if (resolvers !== undefined) resolver.setServers(resolvers)
    const cancel = (): void => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      return await question(resolver)
    } catch (error) {
      signal.throwIfAborted()
      const { code = '' } = error as NodeJS.ErrnoException
      if (NO_RECORD.includes(code)) return []
      throw new Error(`the resolver does not answer (${code})`, { cause: error })
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
}

/** The servers in a referral, or in the answer of a server that has both zones. */
function nameServersIn({ answers, authorities }: DnsAnswer, name: string): string[] {
  return [...answers, ...authorities]
    .filter((record) => record.type === 'NS' && record.name === name)
    .map(({ value }) => value)
}
