// Waits until a new TXT record has reached every name server of its zone, before an ACME authority is told to check it.

import { setTimeout as delay } from 'node:timers/promises'
import { DnsClient, type DnsClientOptions, type ServerAnswer } from '@svc/dns/client'
import {
  DNS_QUESTION_TIMEOUT_MS,
  PROPAGATION_FIRST_PAUSE_MS,
  PROPAGATION_MAX_MS,
  PROPAGATION_PAUSE_MAX_MS,
} from './limits.ts'
import { DnsProviderError } from './provider.ts'

export interface PropagationOptions extends Pick<DnsClientOptions, 'servers' | 'resolvers' | 'port'> {
  /** Time within which all servers must answer with the record, in milliseconds. @default 10 minutes */
  timeoutMs?: number
}

/** What the operator of a private zone does: servers that the public DNS names do not have it. */
export const PRIVATE_ZONE = 'those of a private zone have to be in ACME_DNS_SERVERS'

/** A server that does not have the record yet, and its last answer; undefined when all have it. */
type Missing = { server: string; why: string } | undefined

export class Propagation {
  readonly #options: PropagationOptions

  constructor(options: PropagationOptions = {}) {
    this.#options = options
  }

  /** Whether the name servers of the zone that a name is in can be found. Never rejects. */
  async hasNameServers(name: string, signal?: AbortSignal): Promise<boolean> {
    return await this.#newClient(signal).hasServers(name)
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
    const hint = this.#options.servers === undefined ? ` (name servers: ${PRIVATE_ZONE})` : ''
    throw new DnsProviderError(
      'not_propagated',
      `${missing?.server ?? 'a name server'} does not answer with the new TXT record of ${name} after ${timeoutMs / 60_000} minutes: ${missing?.why ?? 'it was not asked'}${hint}`,
    )
  }

  /** Asks all servers once. */
  async #look(name: string, value: string, signal: AbortSignal): Promise<Missing> {
    try {
      const steps = await this.#newClient(signal).lookUp(name, 'TXT')
      const missing = steps.at(-1)?.answers.find((answer) => !hasValue(answer, value))
      return missing && { server: missing.server, why: whyMissing(missing) }
    } catch (error) {
      return { server: 'DNS', why: (error as Error).message }
    }
  }

  /** Finds the name servers anew each time, since a zone may move. */
  #newClient(signal: AbortSignal | undefined): DnsClient {
    return new DnsClient({ ...this.#options, timeoutMs: DNS_QUESTION_TIMEOUT_MS, signal })
  }
}

function hasValue({ records }: ServerAnswer, value: string): boolean {
  return records.some((one) => one.type === 'TXT' && one.value === value)
}

function whyMissing({ records, problem }: ServerAnswer): string {
  if (problem !== undefined) return `it ${problem}`
  return records.length > 0 ? 'it answers with other values' : 'it has no such record'
}
