// Looks records up at all authoritative servers of a name, without any cache, and says what each server answers.

import { Resolver } from 'node:dns/promises'
import { hostPort } from '@svc/node-kit/host-port'
import {
  ALIASES_MAX,
  LABELS_MAX,
  LOOKUP_MAX_MS,
  QUESTION_TIMEOUT_MS,
  QUESTION_TRIES,
  QUESTIONS_MAX,
  SERVER_ADDRESSES_MAX,
  ZONE_SERVERS_MAX,
} from './limits.ts'

export type LookupType = 'TXT' | 'CNAME' | 'A' | 'AAAA'

/** What one server answers: values, none of them when it has no such record, or why there is no answer. */
export interface ServerAnswer {
  /** The server's name, or the address of a configured one. */
  server: string
  values?: readonly string[]
  /** Present without {@link values}. */
  failure?: string
}

export interface LookupOptions {
  /**
   * Validating resolvers that are asked in place of the authoritative servers, each `ADDRESS`, `ADDRESS:PORT` or `[IPV6]:PORT`.
   * @default the authoritative servers are asked
   */
  servers?: readonly string[] | undefined
  /** Resolvers that find the authoritative servers, in the same form. @default those of the system */
  resolvers?: readonly string[] | undefined
  /** Port of the authoritative servers. @default 53 */
  port?: number | undefined
  /** Whether the address of an authoritative server may be asked: whoever owns a zone chooses it. */
  mayAsk(address: string): boolean
  /** Time for all questions, in milliseconds. @default 15 s */
  timeoutMs?: number | undefined
}

/** A server with its addresses, in the form of `Resolver.setServers`: an answer from one of them is enough. */
interface NameServer {
  name: string
  addresses: readonly string[]
}

const DNS_PORT = 53
/** Codes of "no such record", as opposed to no answer. */
const NO_RECORD = ['ENODATA', 'ENOTFOUND']
const TOO_MUCH = 'this takes more questions than one look-up may ask'

/** The answers of all servers to one question. */
export type Answers = readonly ServerAnswer[]

/**
 * A Lookup asks for records of one name and those that it leads to. All questions together are bounded in number and time. Servers
 * that answer slowly, wrongly or with large messages spoil only their own look-up.
 */
export class Lookup {
  readonly #options: LookupOptions
  readonly #signal: AbortSignal
  /** By name; servers of one look-up do not change. */
  readonly #servers = new Map<string, Promise<readonly NameServer[]>>()
  #questions = 0

  /** @param signal ends the look-up: questions without an answer fail */
  constructor(options: LookupOptions, signal?: AbortSignal) {
    this.#options = options
    const late = AbortSignal.timeout(options.timeoutMs ?? LOOKUP_MAX_MS)
    this.#signal = signal === undefined ? late : AbortSignal.any([late, signal])
  }

  /** Answers of all servers about the name itself. Empty when no server is known. Never rejects. */
  async ask(name: string, type: LookupType): Promise<Answers> {
    try {
      const servers = await this.#serversOf(name)
      return await Promise.all(servers.map((server) => this.#askServer(server, name, type)))
    } catch (error) {
      return [{ server: 'DNS', failure: messageOf(error) }]
    }
  }

  /**
   * The same, and follows CNAME records on which all servers agree.
   * @returns the answers about the last name, and all names on the way, the first included
   */
  async follow(name: string, type: LookupType): Promise<{ answers: Answers; names: string[] }> {
    const names = [name]
    for (;;) {
      const current = names.at(-1) as string
      const answers = await this.ask(current, type)
      if (!isEmpty(answers)) return { answers, names }
      const next = await this.#next(names)
      if (next === undefined) return { answers, names }
      if (next === '')
        return { answers: [{ server: 'DNS', failure: 'its CNAME records lead to no end' }], names }
      names.push(next)
    }
  }

  /** Follows only CNAME records, to the name for which `isEnd` is true or the last one. @returns all names, the first included */
  async aliases(name: string, isEnd: (name: string) => boolean): Promise<string[]> {
    const names = [name]
    while (!isEnd(names.at(-1) as string)) {
      const next = await this.#next(names)
      if (next === undefined || next === '') break
      names.push(next)
    }
    return names
  }

  /** The name to which the last one leads; undefined when it leads to none, empty when there are too many. */
  async #next(names: readonly string[]): Promise<string | undefined> {
    const next = aliasOf(await this.ask(names.at(-1) as string, 'CNAME'))
    return next !== undefined && (names.includes(next) || names.length > ALIASES_MAX) ? '' : next
  }

  #serversOf(name: string): Promise<readonly NameServer[]> {
    const { servers } = this.#options
    if (servers !== undefined)
      return Promise.resolve(servers.map((address) => ({ name: address, addresses: [address] })))
    let found = this.#servers.get(name)
    if (found === undefined) {
      found = this.#findServers(name)
      this.#servers.set(name, found)
    }
    return found
  }

  /** Walks up from a name to its zone, which has NS records. */
  async #findServers(name: string): Promise<readonly NameServer[]> {
    const labels = name.split('.')
    if (labels.length > LABELS_MAX) throw new Error(`${name} has more than ${LABELS_MAX} labels`)
    for (let depth = 0; depth < labels.length; depth++) {
      const zone = labels.slice(depth).join('.')
      const names = await this.#find((resolver) => resolver.resolveNs(zone))
      if (names.length === 0) continue
      // Resolvers follow aliases: then these are the servers of another zone, whose owner has no say about this name.
      if ((await this.#find((resolver) => resolver.resolveCname(zone))).length > 0) continue
      if (names.length > ZONE_SERVERS_MAX)
        throw new Error(`${zone} has more than ${ZONE_SERVERS_MAX} name servers`)
      return await Promise.all(names.map((server) => this.#withAddresses(server)))
    }
    return []
  }

  async #withAddresses(name: string): Promise<NameServer> {
    const families = await Promise.all([
      this.#find((resolver) => resolver.resolve4(name)),
      this.#find((resolver) => resolver.resolve6(name)),
    ])
    const { port = DNS_PORT, mayAsk } = this.#options
    const addresses = families.flat().filter(mayAsk).slice(0, SERVER_ADDRESSES_MAX)
    return { name, addresses: addresses.map((address) => hostPort(address, port)) }
  }

  async #find(question: (resolver: Resolver) => Promise<string[]>): Promise<string[]> {
    try {
      return await this.#answer(this.#options.resolvers, question)
    } catch (error) {
      if (isNoRecord(error)) return []
      throw error
    }
  }

  async #askServer(
    { name: server, addresses }: NameServer,
    name: string,
    type: LookupType,
  ): Promise<ServerAnswer> {
    let failure = 'it has no public address'
    for (const address of addresses) {
      try {
        return { server, values: await this.#answer([address], (resolver) => valuesOf(resolver, name, type)) }
      } catch (error) {
        if (isNoRecord(error)) return { server, values: [] }
        failure = `it does not answer at ${address} (${messageOf(error)})`
      }
    }
    return { server, failure }
  }

  /** Uses a new resolver, which has no cached answers. */
  async #answer<T>(
    servers: readonly string[] | undefined,
    question: (resolver: Resolver) => Promise<T>,
  ): Promise<T> {
    this.#signal.throwIfAborted()
    this.#questions += 1
    if (this.#questions > QUESTIONS_MAX) throw new Error(TOO_MUCH)
    const resolver = new Resolver({ timeout: QUESTION_TIMEOUT_MS, tries: QUESTION_TRIES })
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = (): void => resolver.cancel()
    this.#signal.addEventListener('abort', cancel, { once: true })
    try {
      return await question(resolver)
    } finally {
      this.#signal.removeEventListener('abort', cancel)
    }
  }
}

async function valuesOf(resolver: Resolver, name: string, type: LookupType): Promise<string[]> {
  if (type === 'TXT') return (await resolver.resolveTxt(name)).map((parts) => parts.join(''))
  if (type === 'A') return await resolver.resolve4(name)
  if (type === 'AAAA') return await resolver.resolve6(name)
  return (await resolver.resolveCname(name)).map((target) => target.toLowerCase().replace(/\.$/, ''))
}

/** Whether all servers answer that there is no such record. */
function isEmpty(answers: Answers): boolean {
  return answers.length > 0 && answers.every(({ values }) => values?.length === 0)
}

/** The one name that all servers give; undefined when there is none. */
function aliasOf(answers: Answers): string | undefined {
  const given = answers.map(({ values }) => (values?.length === 1 ? values[0] : undefined))
  const [first] = given
  return given.every((name) => name === first) ? first : undefined
}

function isNoRecord(error: unknown): boolean {
  return NO_RECORD.includes((error as NodeJS.ErrnoException).code ?? '')
}

/** For people: the code of an answer's failure, or the reason. */
function messageOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ECANCELLED' || (error as Error).name === 'TimeoutError') return 'the look-up took too long'
  return code === undefined ? message : String(code)
}
