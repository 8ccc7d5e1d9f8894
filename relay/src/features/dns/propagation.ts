// Waits until a new TXT record has reached every name server of its zone, before an ACME authority is told to check it.

import { Resolver } from 'node:dns/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { hostPort } from '@svc/node-kit/host-port'
import {
  CNAMES_MAX,
  DNS_QUESTION_TIMEOUT_MS,
  LABELS_MAX,
  NAME_SERVER_ADDRESSES_MAX,
  NAME_SERVERS_MAX,
  PROPAGATION_FIRST_PAUSE_MS,
  PROPAGATION_MAX_MS,
  PROPAGATION_PAUSE_MAX_MS,
} from './limits.ts'
import { DnsProviderError } from './provider.ts'

export interface PropagationOptions {
  /**
   * Servers that are asked for the record, each `ADDRESS`, `ADDRESS:PORT` or `[IPV6]:PORT`.
   * @default the name servers of the record's zone
   */
  servers?: readonly string[] | undefined
  /** Resolvers that know the zone's name servers, in the same form. @default those of the system */
  resolvers?: readonly string[]
  /** Port of the zone's name servers. @default 53 */
  port?: number
  /** Time within which all servers must answer with the record, in milliseconds. @default 10 minutes */
  timeoutMs?: number
}

/** A server with its addresses: an answer from one of them is enough. */
interface NameServer {
  name: string
  /** In the form of `Resolver.setServers`. */
  addresses: readonly string[]
}

/** A server that does not have the record yet, and its last answer; undefined when all have it. */
type Missing = { server: string; why: string } | undefined

const DNS_PORT = 53
/** Error codes for "no such record", as opposed to no answer. */
const NO_RECORD = ['ENODATA', 'ENOTFOUND']

export class Propagation {
  readonly #options: PropagationOptions

  constructor(options: PropagationOptions = {}) {
    this.#options = options
  }

  /** Whether the name servers of the zone that a name is in can be found. Never rejects. */
  async hasNameServers(name: string, signal?: AbortSignal): Promise<boolean> {
    if (this.#options.servers !== undefined) return true
    return await this.#nameServersOf(name, signal).then(
      (servers) => servers.length > 0,
      () => false,
    )
  }

  /**
   * Resolves when every name server of the zone answers with the value at the name, through one of its addresses. A CNAME at the
   * name is followed into its zone.
   * @throws DnsProviderError `not_propagated` that names a server without the value, or the signal's reason
   */
  async waitForTxt(name: string, value: string, signal?: AbortSignal): Promise<void> {
    const { timeoutMs = PROPAGATION_MAX_MS } = this.#options
    const late = AbortSignal.timeout(timeoutMs)
    const either = signal === undefined ? late : AbortSignal.any([late, signal])
    let missing: Missing
    let pauseMs = PROPAGATION_FIRST_PAUSE_MS
    while (!either.aborted) {
      const last = await this.#look(name, value, either)
      if (last === undefined) return
      // Queries that the timeout cut off are no evidence.
      if (missing === undefined || !either.aborted) missing = last
      await delay(pauseMs, undefined, { signal: either }).catch(() => {})
      pauseMs = Math.min(pauseMs * 1.5, PROPAGATION_PAUSE_MAX_MS)
    }
    signal?.throwIfAborted()
    throw new DnsProviderError(
      'not_propagated',
      `${missing?.server ?? 'a name server'} does not answer with the new TXT record of ${name} after ${timeoutMs / 60_000} minutes: ${missing?.why ?? 'it was not asked'}`,
    )
  }

  /** Asks all servers once. Looks up the name servers each time, since a zone may move. */
  async #look(name: string, value: string, signal: AbortSignal): Promise<Missing> {
    try {
      const target = await this.#followCnames(name, signal)
      const servers = this.#configured() ?? (await this.#nameServersOf(target, signal))
      if (servers.length === 0) return { server: 'DNS', why: `no name servers of ${target} are known` }
      const answers = await Promise.all(servers.map((server) => ask(server, target, value, signal)))
      return answers.find((answer) => answer !== undefined)
    } catch (error) {
      return { server: 'DNS', why: (error as Error).message }
    }
  }

  #configured(): NameServer[] | undefined {
    return this.#options.servers?.map((address) => ({ name: address, addresses: [address] }))
  }

  async #followCnames(name: string, signal: AbortSignal): Promise<string> {
    // Configured servers are asked for the name itself, and follow CNAMEs.
    if (this.#options.servers !== undefined) return name
    let target = name
    for (let followed = 0; followed < CNAMES_MAX; followed++) {
      const [next] = await this.#lookUp(signal, (resolver) => resolver.resolveCname(target))
      if (next === undefined) return target
      target = next
    }
    throw new Error(`${name} has more than ${CNAMES_MAX} CNAME records one after another`)
  }

  /** Walks up from a name to its zone, which has NS records. */
  async #nameServersOf(name: string, signal?: AbortSignal): Promise<NameServer[]> {
    const labels = name.split('.').slice(-LABELS_MAX)
    for (let depth = 0; depth < labels.length; depth++) {
      const zone = labels.slice(depth).join('.')
      const names = await this.#lookUp(signal, (resolver) => resolver.resolveNs(zone))
      if (names.length > 0)
        return await Promise.all(
          names.slice(0, NAME_SERVERS_MAX).map((server) => this.#withAddresses(server, signal)),
        )
    }
    return []
  }

  async #withAddresses(name: string, signal: AbortSignal | undefined): Promise<NameServer> {
    const families = await Promise.all([
      this.#lookUp(signal, (resolver) => resolver.resolve4(name)),
      this.#lookUp(signal, (resolver) => resolver.resolve6(name)),
    ])
    const { port = DNS_PORT } = this.#options
    const addresses = families
      .flat()
      .slice(0, NAME_SERVER_ADDRESSES_MAX)
      .map((address) => hostPort(address, port))
    return { name, addresses }
  }

  /** @returns an empty list when there is no such record */
  async #lookUp(
    signal: AbortSignal | undefined,
    question: (resolver: Resolver) => Promise<string[]>,
  ): Promise<string[]> {
    try {
      return await answerOf(this.#options.resolvers, signal, question)
    } catch (error) {
      if (NO_RECORD.includes((error as NodeJS.ErrnoException).code ?? '')) return []
      throw error
    }
  }
}

/** Asks a server through its addresses, one after another, until one has the record. */
async function ask(
  { name, addresses }: NameServer,
  record: string,
  value: string,
  signal: AbortSignal,
): Promise<Missing> {
  let why = 'it has no address'
  for (const address of addresses) {
    try {
      const values = await answerOf([address], signal, (resolver) => resolver.resolveTxt(record))
      if (values.some((chunks) => chunks.join('') === value)) return undefined
      why = `${address} answers with other values`
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      why = NO_RECORD.includes(code ?? '')
        ? `${address} has no such record`
        : `${address} does not answer (${code})`
    }
  }
  return { server: name, why }
}

/** Uses a new resolver, which has no cached answers. */
async function answerOf<T>(
  servers: readonly string[] | undefined,
  signal: AbortSignal | undefined,
  question: (resolver: Resolver) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const resolver = new Resolver({ timeout: DNS_QUESTION_TIMEOUT_MS, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  const cancel = (): void => resolver.cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    return await question(resolver)
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
}
