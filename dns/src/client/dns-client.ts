// Asks every authoritative name server of a name, through CNAMEs, and the resolver for what it still has in its cache.

import { getServers } from 'node:dns'
import { isIPv6 } from 'node:net'
import { type AskOptions, ask, type ServerAddress } from './ask.ts'
import { CNAMES_MAX } from './limits.ts'
import type { DnsAnswer, DnsRecord, RecordKind } from './message.ts'
import { DNS_PORT, type NameServer, Zones } from './zones.ts'

/** DnsClientOptions say whom a DnsClient asks, and for how long. */
export interface DnsClientOptions extends AskOptions {
  /** As in {@link Zones}. @default the system's */
  resolvers?: readonly string[] | undefined
  /** Port of name servers. @default 53 */
  port?: number | undefined
  /** Servers that are asked in place of the authoritative ones, as `ADDRESS`, `ADDRESS:PORT` or `[IPV6]:PORT`. */
  servers?: readonly string[] | undefined
}

/** What one name server says of a name. */
export interface ServerAnswer {
  /** Its name, or its address where it was given. */
  server: string
  /** Records of the asked type, or the CNAME in their place. */
  records: readonly DnsRecord[]
  /** Why there is no answer, in words that follow the name of the server; undefined when there is one. */
  problem?: string
}

/** The answers about one name; the next step is about the target of its CNAME. */
export interface LookUpStep {
  name: string
  /** The zone whose servers were asked; undefined for servers that were given. */
  zone: string | undefined
  answers: readonly ServerAnswer[]
}

/** What a resolver has in its cache. */
export interface CachedAnswer {
  records: readonly DnsRecord[]
  /** Seconds until it asks again. */
  ttl: number
}

/** A DnsClient keeps the name servers that it has found for as long as it is used. */
export class DnsClient {
  readonly #options: DnsClientOptions
  readonly #zones: Zones

  constructor(options: DnsClientOptions = {}) {
    this.#options = options
    this.#zones = new Zones(options)
  }

  /**
   * Asks all authoritative servers at once, and follows the CNAME that the first of them has.
   * @returns one step at least
   * @throws Error in one line when no server is known, or there are too many CNAMEs
   */
  async lookUp(name: string, type: RecordKind): Promise<LookUpStep[]> {
    const steps: LookUpStep[] = []
    let asked: string | undefined = name
    while (asked !== undefined) {
      if (steps.length > CNAMES_MAX)
        throw new Error(`${name} has more than ${CNAMES_MAX} CNAME records one after another`)
      const step: LookUpStep = await this.#ask(asked, type)
      steps.push(step)
      const records = step.answers.flatMap((answer) => answer.records)
      asked = type === 'CNAME' ? undefined : records.find((one) => one.type === 'CNAME')?.value
    }
    return steps
  }

  /** Whether a name is the top of a zone, where no CNAME can be. @throws Error when the DNS does not answer */
  async isApex(name: string): Promise<boolean> {
    if (this.#options.servers === undefined) return (await this.#zones.zoneOf(name))?.name === name
    const { answers } = await this.#ask(name, 'SOA')
    return answers.some(({ records }) => records.some(({ type }) => type === 'SOA'))
  }

  /** @returns undefined when no resolver answers, or other servers are asked anyway */
  async cached(name: string, type: RecordKind): Promise<CachedAnswer | undefined> {
    if (this.#options.servers !== undefined) return undefined
    for (const server of (this.#options.resolvers ?? getServers()).map(parseAddress)) {
      const answer = await ask(server, { name, type, isRecursive: true }, this.#options).catch(
        () => undefined,
      )
      if (answer === undefined || !isAnswer(answer)) continue
      const records = answer.answers.filter((one) => one.type === type)
      const kept =
        records.length > 0 ? answer.answers : answer.authorities.filter((one) => one.type === 'SOA')
      const ttls = kept.map((one) => (one.type === 'SOA' ? Number(one.value) : one.ttl))
      return { records, ttl: Math.min(...ttls, ...(ttls.length === 0 ? [0] : [])) }
    }
    return undefined
  }

  async #ask(name: string, type: RecordKind): Promise<LookUpStep> {
    const { servers } = this.#options
    if (servers !== undefined) {
      const given = servers.map((server) => ({ name: server, addresses: [parseAddress(server)] }))
      return { name, zone: undefined, answers: await this.#askAll(given, name, type, true) }
    }
    const zone = await this.#zones.zoneOf(name)
    if (zone === undefined) throw new Error(`no name servers of ${name} are known`)
    return { name, zone: zone.name, answers: await this.#askAll(zone.servers, name, type, false) }
  }

  async #askAll(
    servers: readonly NameServer[],
    name: string,
    type: RecordKind,
    isRecursive: boolean,
  ): Promise<ServerAnswer[]> {
    const question = { name, type, isRecursive }
    return await Promise.all(
      servers.map(async ({ name: server, addresses }) => {
        let problem = 'has no address'
        for (const address of addresses) {
          try {
            const answer = await ask(address, question, this.#options)
            if (isAnswer(answer) && (answer.isAuthoritative || isRecursive))
              return { server, records: ofName(answer, name, type) }
            problem = isAnswer(answer) ? 'does not have this zone' : `answers ${answer.code}`
          } catch (error) {
            this.#options.signal?.throwIfAborted()
            problem = (error as Error).message
          }
        }
        return { server, records: [], problem }
      }),
    )
  }
}

function isAnswer({ code }: DnsAnswer): boolean {
  return code === 'NOERROR' || code === 'NXDOMAIN'
}

/** The records of the name itself: servers may add those of a CNAME's target. */
function ofName({ answers }: DnsAnswer, name: string, type: RecordKind): DnsRecord[] {
  return answers.filter((one) => one.name === name && (one.type === type || one.type === 'CNAME'))
}

/** @param text in the form of `Resolver.setServers` */
function parseAddress(text: string): ServerAddress {
  if (isIPv6(text)) return { host: text, port: DNS_PORT }
  const [, ipv6, other, port] = /^(?:\[([^[\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? []
  return { host: ipv6 ?? other ?? text, port: Number(port ?? DNS_PORT) }
}
