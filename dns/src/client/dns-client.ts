// Asks every authoritative name server of a name, through CNAMEs, and the resolver for what it still has in its cache.

import { getServers } from 'node:dns'
import { isIPv6 } from 'node:net'
import type { ServerAddress } from './ask.ts'
import { CNAMES_MAX } from './limits.ts'
import type { DnsAnswer, DnsRecord, Question, RecordKind } from './message.ts'
import { Questions } from './questions.ts'
import { DNS_PORT, type NameServer, Zones, type ZonesOptions } from './zones.ts'

/** DnsClientOptions say whom a DnsClient asks, for how long, and how much. */
export interface DnsClientOptions extends ZonesOptions {
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
  /** The target of a CNAME on which all servers that answer agree. */
  target: string | undefined
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
  readonly #questions: Questions
  readonly #zones: Zones

  constructor(options: DnsClientOptions = {}) {
    this.#options = options
    this.#questions = new Questions(options)
    this.#zones = new Zones(options, this.#questions)
  }

  /**
   * Asks all authoritative servers at once, and follows CNAMEs on which those that answer agree.
   * @param isEnd whether the records of a target are not looked up. @default those of none are left out
   * @returns one step at least
   * @throws Error in one line when no server is known, or there are too many CNAMEs or questions; the signal's reason
   */
  async lookUp(
    name: string,
    type: RecordKind,
    isEnd: (target: string) => boolean = () => false,
  ): Promise<LookUpStep[]> {
    const steps: LookUpStep[] = []
    let asked: string | undefined = name
    while (asked !== undefined) {
      if (steps.length > CNAMES_MAX || steps.some((step) => step.name === asked))
        throw new Error(`${name} has more than ${CNAMES_MAX} CNAME records one after another`)
      const step: LookUpStep = await this.#ask(asked, type)
      steps.push(step)
      const { target } = step
      asked = type === 'CNAME' || target === undefined || isEnd(target) ? undefined : target
    }
    return steps
  }

  /** Whether the name servers of the zone that a name is in can be found. Never rejects. */
  async hasServers(name: string): Promise<boolean> {
    if (this.#options.servers !== undefined) return true
    return await this.#zones.zoneOf(name).then(
      (zone) => zone !== undefined,
      () => false,
    )
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
      const answer = await this.#questions
        .ask(server, { name, type, isRecursive: true })
        .catch(() => undefined)
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
    const given = servers?.map(
      (server): NameServer => ({ name: server, addresses: async () => [parseAddress(server)] }),
    )
    const zone = given === undefined ? await this.#zones.zoneOf(name) : undefined
    const asked = given ?? zone?.servers
    if (asked === undefined) throw new Error(`no name servers of ${name} are known`)
    const question = { name, type, isRecursive: given !== undefined }
    const answers = await Promise.all(asked.map((server) => this.#askServer(server, question)))
    return { name, zone: zone?.name, answers, target: aliasOf(answers) }
  }

  async #askServer({ name: server, addresses }: NameServer, question: Question): Promise<ServerAnswer> {
    let problem = this.#options.mayAsk === undefined ? 'has no address' : 'has no public address'
    for (const address of this.#questions.inOrder(await addresses())) {
      try {
        const answer = await this.#questions.ask(address, question)
        if (isAnswer(answer) && (answer.isAuthoritative || question.isRecursive === true))
          return { server, records: ofName(answer, question) }
        problem = isAnswer(answer) ? 'does not have this zone' : `answers ${answer.code}`
      } catch (error) {
        this.#questions.signal.throwIfAborted()
        problem = (error as Error).message
      }
    }
    return { server, records: [], problem }
  }
}

function isAnswer({ code }: DnsAnswer): boolean {
  return code === 'NOERROR' || code === 'NXDOMAIN'
}

/** The records of the name itself: servers may add those of a CNAME's target. */
function ofName({ answers }: DnsAnswer, { name, type }: Question): DnsRecord[] {
  return answers.filter((one) => one.name === name && (one.type === type || one.type === 'CNAME'))
}

function aliasOf(answers: readonly ServerAnswer[]): string | undefined {
  const targets = answers
    .filter(({ problem }) => problem === undefined)
    .map(({ records }) => records.filter(({ type }) => type === 'CNAME').map(({ value }) => value))
  const [[target] = []] = targets
  return targets.every((given) => given.length === 1 && given[0] === target) ? target : undefined
}

/** @param text in the form of `Resolver.setServers` */
function parseAddress(text: string): ServerAddress {
  if (isIPv6(text)) return { host: text, port: DNS_PORT }
  const [, ipv6, other, port] = /^(?:\[([^[\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? []
  return { host: ipv6 ?? other ?? text, port: Number(port ?? DNS_PORT) }
}
