// What each relay of a site says about the site's domains, from the relays' answers.

import { type CustomDomain, PATH } from '@svc/protocol'
import { pause } from '@svc/protocol/timers'
import { isRecord } from '../control/json-checks.ts'
import type { RelayClient } from '../control/relay-client.ts'
import type { DomainDns } from './options.ts'
import type { GrantedLease } from './served-domains.ts'

/** The longest and the shortest pause between two questions about a domain that is pending, in milliseconds. */
const STATES_PAUSE_MAX_MS = 30_000
const STATES_PAUSE_MIN_MS = 500

const STATES: readonly unknown[] = ['pending', 'active', 'refused']
const ADDRESS_OR_HOST = /^[\w.:-]{1,253}$/
/** The types of the records that a relay may name. The site knows the proof of its owner itself: a relay could name another one's. */
const TYPES: readonly unknown[] = ['A', 'AAAA', 'CNAME']
const RECORDS_MAX = 16
const TEXT_MAX_CHARS = 500
/** The better one of two relays' answers is shown. */
const RANK: Readonly<Record<DomainDns['state'], number>> = { refused: 0, pending: 1, active: 2 }
const UNKNOWN: DomainDns = { state: 'pending', reason: 'no relay has looked at its records yet', records: [] }
const UNSUPPORTED: DomainDns = {
  state: 'refused',
  reason: 'the relay leads no custom domains to sites: its operator can switch that on in a newer release',
  records: [],
}

type Reports = ReadonlyMap<string, DomainDns>

export class RelayReports {
  readonly #byRelay = new Map<string, Reports>()
  /** The relays that are asked again, until nothing is pending. */
  readonly #asking = new Set<string>()
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Returns the best answer of any relay. */
  of(domain: string): DomainDns {
    const answers = [...this.#byRelay.values()].flatMap((reports) => reports.get(domain) ?? [])
    return answers.reduce(
      (one, other) => (RANK[other.state] > RANK[one.state] ? other : one),
      answers[0] ?? UNKNOWN,
    )
  }

  /** Takes the answer of a registration or a renewal, and asks again while something is pending. */
  granted(client: RelayClient, lease: GrantedLease, names: readonly string[], signal: AbortSignal): void {
    const isSupported = lease.extensions.has('custom_domains')
    const reports = isSupported
      ? readReports(lease.domains)
      : new Map(names.map((name) => [name, UNSUPPORTED]))
    this.#set(client.origin, reports)
    if (isSupported && !this.#asking.has(client.origin)) this.#ask(client, lease.accessToken, signal)
  }

  /** A relay looks records up after it has answered the registration, so that they delay nothing. */
  async #ask(client: RelayClient, token: string, signal: AbortSignal): Promise<void> {
    const { origin } = client
    this.#asking.add(origin)
    try {
      while (this.#isPending(origin) && !signal.aborted) {
        const answer = await client.call(PATH.customDomains, { body: { access_token: token }, signal })
        const { domains, retry_after: seconds } = Object(answer)
        this.#set(origin, readReports(domains))
        const ms = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : STATES_PAUSE_MAX_MS
        if (this.#isPending(origin))
          await pause(Math.max(STATES_PAUSE_MIN_MS, Math.min(ms, STATES_PAUSE_MAX_MS)), signal)
      }
    } catch {
      // The lease's next renewal has the states too, and asks again.
    } finally {
      this.#asking.delete(origin)
    }
  }

  #isPending(origin: string): boolean {
    return [...(this.#byRelay.get(origin)?.values() ?? [])].some(({ state }) => state === 'pending')
  }

  #set(origin: string, reports: Reports): void {
    this.#byRelay.set(origin, reports)
    this.#changed()
  }
}

/** Reads what a relay answers; what is malformed counts as missing. */
function readReports(domains: unknown): Reports {
  const reports = new Map<string, DomainDns>()
  for (const one of Array.isArray(domains) ? domains : [])
    if (isRecord(one) && typeof one.domain === 'string' && STATES.includes(one.state))
      reports.set(one.domain, {
        state: one.state as CustomDomain['state'],
        reason: typeof one.reason === 'string' ? one.reason.slice(0, TEXT_MAX_CHARS) : undefined,
        records: readRecords(one.domain, one.records),
      })
  return reports
}

/**
 * Reads the records that lead a domain to the relay. All others are dropped: with one such as `_acme-challenge` the relay would get a
 * certificate for the domain, and with the proof of another owner the domain itself.
 */
function readRecords(domain: string, records: unknown): DomainDns['records'] {
  const isOfDomain = (one: unknown): boolean => {
    const { type, name, value } = Object(one)
    return TYPES.includes(type) && name === domain && typeof value === 'string' && ADDRESS_OR_HOST.test(value)
  }
  return Array.isArray(records) ? records.slice(0, RECORDS_MAX).filter(isOfDomain) : []
}
