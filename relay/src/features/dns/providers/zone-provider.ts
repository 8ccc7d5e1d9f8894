// A DnsProvider over the API of an external provider: it computes the changes, and removes only what the relay made.

import { Resolver } from 'node:dns/promises'
import {
  asProviderError,
  normalizedAddresses,
  plainName,
  type RecordSet,
  type RecordType,
  retrying,
  type Zone,
  type ZoneApi,
  zoneCandidates,
} from '@svc/dns/providers'
import { untilAborted } from '@svc/protocol/timers'
import type { Logger } from '../../../core/log/log.ts'
import type { Propagation } from '../propagation.ts'
import { type DnsProvider, DnsProviderError, type DnssecState, type NameAddresses } from '../provider.ts'
import { LeftChallenges } from './left-challenges.ts'
import { CAN_ANSWER_DEADLINE_MS } from './limits.ts'
import type { MadeRecord, RecordJournal, RecordUse } from './record-journal.ts'

/** Label of `dns-01` challenge records (RFC 8555 §8.4). */
const ACME_LABEL = '_acme-challenge.'

export interface ZoneProviderParts {
  api: ZoneApi
  rootHost: string
  journal: RecordJournal
  log: Logger
  propagation: Pick<Propagation, 'waitForTxt'>
  /** The name servers of a name in the public DNS. @default the system's resolver */
  resolveNs?(name: string): Promise<string[]>
  /** Milliseconds before the second attempt. @default FIRST_PAUSE_MS */
  firstPauseMs?: number
}

export class ZoneProvider implements DnsProvider {
  readonly name: string
  readonly #parts: ZoneProviderParts
  readonly #closing = new AbortController()
  /** Found once; a failed search is repeated. */
  #zone: Promise<Zone> | undefined
  /** Challenges that a crash left; undefined until the zone is found. */
  #left: LeftChallenges | undefined
  /** The check of the credentials, before any change. Never rejects. */
  readonly #started: Promise<void>

  constructor(parts: ZoneProviderParts) {
    this.name = parts.api.name
    this.#parts = parts
    this.#started = this.#start()
  }

  async canAnswer(signal?: AbortSignal, tell?: (reason: string) => void): Promise<boolean> {
    const bounded = AbortSignal.any([this.#joined(signal), AbortSignal.timeout(CAN_ANSWER_DEADLINE_MS)])
    try {
      const isDelegated = await untilAborted(this.#isDelegated(), bounded)
      const { rootHost } = this.#parts
      if (!isDelegated) tell?.(`the public DNS has no name servers of ${this.name} for ${rootHost}`)
      return isDelegated
    } catch (error) {
      tell?.(error instanceof DnsProviderError ? error.message : `${this.name} gave no answer in time`)
      return false
    }
  }

  async addTxt(name: string, value: string, signal?: AbortSignal, wait?: 'taken'): Promise<void> {
    const joined = this.#joined(signal)
    await this.#change(joined, async (zone) => {
      this.#leftIn(zone).keep(name, value)
      this.#requireRoom(zone, name, 'TXT', [value])
      const current = await this.#read(zone, name, 'TXT', joined)
      if (!valuesOf(current).includes(value)) await this.#apply(zone, current, [value], [], joined)
    })
    if (wait !== 'taken') await this.waitForTxt(name, value, signal)
  }

  async waitForTxt(name: string, value: string, signal?: AbortSignal): Promise<void> {
    await this.#parts.propagation.waitForTxt(name, value, this.#joined(signal))
  }

  async removeTxt(name: string, value: string, signal?: AbortSignal): Promise<void> {
    const joined = this.#joined(signal)
    await this.#change(joined, async (zone) => {
      if (!this.#parts.journal.has(this.#made(zone, name, 'TXT', value))) return
      await this.#apply(zone, await this.#read(zone, name, 'TXT', joined), [], [value], joined)
    })
  }

  async setAddresses(name: string, addresses: NameAddresses, signal?: AbortSignal): Promise<void> {
    const joined = this.#joined(signal)
    const families = {
      A: normalizedAddresses(addresses.ipv4),
      AAAA: normalizedAddresses(addresses.ipv6),
    } as const
    await this.#change(joined, async (zone) => {
      const sets: RecordSet[] = []
      for (const type of ['A', 'AAAA'] as const) {
        // Records that the relay did not make stay.
        if (families[type].length + this.#madeValues(zone, name, type).length === 0) continue
        this.#requireRoom(zone, name, type, families[type])
        const current = await this.#read(zone, name, type, joined)
        this.#refuseForeign(zone, current, families[type])
        sets.push(current)
      }
      for (const current of sets) {
        const wanted = families[current.type as 'A' | 'AAAA']
        const present = valuesOf(current)
        const made = this.#madeValues(zone, name, current.type)
        const add = wanted.filter((value) => !present.includes(value))
        await this.#apply(
          zone,
          current,
          add,
          made.filter((value) => !wanted.includes(value)),
          joined,
        )
      }
    })
  }

  async dnssec(signal?: AbortSignal): Promise<DnssecState> {
    const { api } = this.#parts
    if (api.dnssec === undefined)
      throw new DnsProviderError('unsupported', `the relay cannot manage DNSSEC at ${this.name}`)
    const joined = this.#joined(signal)
    return await this.#change(joined, (zone) => api.dnssec!(zone, joined))
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#started
    await this.#left?.idle
  }

  async #isDelegated(): Promise<boolean> {
    const { rootHost, resolveNs = systemResolveNs } = this.#parts
    const { nameServers } = await this.#findZone()
    for (const name of zoneCandidates(rootHost)) {
      const found = await resolveNs(name).catch((): string[] => [])
      if (found.length > 0) return found.some((server) => nameServers.includes(plainName(server)))
    }
    return false
  }

  async #start(): Promise<void> {
    const { log } = this.#parts
    const { signal } = this.#closing
    try {
      const zone = await this.#findZone()
      log.info(
        { provider: this.name, zone: zone.name },
        'the relay changes DNS records at an external provider',
      )
      this.#leftIn(zone).clean()
    } catch (error) {
      if (signal.aborted) return
      const reason = asProviderError(error).message
      log.error(
        { provider: this.name, reason },
        'the relay cannot change DNS records, and tries again when one has to change',
      )
    }
  }

  /**
   * First called before any change, when no order is under way: challenges in the journal are then left from a crash.
   */
  #leftIn(zone: Zone): LeftChallenges {
    const { journal, log } = this.#parts
    this.#left ??= new LeftChallenges({
      records: journal.recordsOf(this.name, zone.name).filter(isChallenge),
      remove: async ({ name, type, value }, signal) =>
        await this.#apply(zone, await this.#read(zone, name, type, signal), [], [value], signal),
      closing: this.#closing.signal,
      log,
    })
    return this.#left
  }

  /** Runs a change in the zone, with retries. @throws DnsProviderError */
  async #change<T>(signal: AbortSignal, change: (zone: Zone) => Promise<T>): Promise<T> {
    try {
      await untilAborted(this.#started, signal)
      const zone = await untilAborted(this.#findZone(), signal)
      const left = this.#leftIn(zone)
      await untilAborted(left.idle, signal)
      const answer = await this.#retrying(() => change(zone), signal)
      left.clean()
      return answer
    } catch (error) {
      const failure = asProviderError(error)
      // The zone may have moved to another account, where it has another ID.
      if (failure.fault === 'wrong_zone') this.#zone = undefined
      throw failure
    }
  }

  /** The journal has a record before the provider does, and until the provider no longer has it. */
  async #apply(
    zone: Zone,
    current: RecordSet,
    add: string[],
    remove: string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { api, journal } = this.#parts
    const { name, type } = current
    const asMade = (value: string): MadeRecord => this.#made(zone, name, type, value)
    const replaced = remove.filter((value) => journal.has(asMade(value))).length
    await journal.add(add.map(asMade), this.#useOf(name), replaced)
    const present = valuesOf(current)
    const change = { add, remove: remove.filter((value) => present.includes(value)) }
    if (change.add.length + change.remove.length > 0) await api.changeRecords(zone, current, change, signal)
    await journal.remove(remove.map(asMade))
  }

  /** Refuses a change for which there is no room, before any request. @throws DnsProviderError */
  #requireRoom(zone: Zone, name: string, type: RecordType, wanted: readonly string[]): void {
    const replaced = this.#madeValues(zone, name, type).filter((value) => !wanted.includes(value)).length
    const made = wanted.map((value) => this.#made(zone, name, type, value))
    this.#parts.journal.requireRoom(made, this.#useOf(name), type === 'TXT' ? 0 : replaced)
  }

  #useOf(name: string): RecordUse {
    const { rootHost } = this.#parts
    const isOwn = name === rootHost || name === `*.${rootHost}` || name.startsWith(ACME_LABEL)
    return isOwn ? 'relay' : 'site'
  }

  /** @throws DnsProviderError when wanted addresses would stand beside ones that the relay did not make */
  #refuseForeign(zone: Zone, current: RecordSet, wanted: readonly string[]): void {
    if (wanted.length === 0) return
    const made = this.#madeValues(zone, current.name, current.type)
    const foreign = valuesOf(current).find((value) => !wanted.includes(value) && !made.includes(value))
    if (foreign === undefined) return
    const record = `${current.name} ${current.type} ${foreign}`
    throw new DnsProviderError(
      'conflict',
      `${this.name} has the record ${record}, which the relay did not make: remove it, or let PUBLIC_IPS name that address`,
    )
  }

  /** All callers share one search, so that no single caller can cancel it. */
  async #findZone(): Promise<Zone> {
    this.#zone ??= this.#searchZone(this.#closing.signal)
    try {
      return await this.#zone
    } catch (error) {
      this.#zone = undefined
      throw error
    }
  }

  async #searchZone(signal: AbortSignal): Promise<Zone> {
    const { api, rootHost } = this.#parts
    const zone = await this.#retrying(() => api.findZone(zoneCandidates(rootHost), signal), signal)
    if (zone !== undefined) return zone
    throw new DnsProviderError(
      'wrong_zone',
      `the account at ${this.name} shows the relay no zone of ${rootHost}`,
    )
  }

  #read(zone: Zone, name: string, type: RecordType, signal: AbortSignal): Promise<RecordSet> {
    return this.#parts.api.readRecords(zone, name, type, signal)
  }

  #retrying<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return retrying(attempt, signal, this.#parts.firstPauseMs)
  }

  #made(zone: Zone, name: string, type: RecordType, value: string): MadeRecord {
    return { provider: this.name, zone: zone.name, name, type, value }
  }

  #madeValues(zone: Zone, name: string, type: RecordType): string[] {
    const made = this.#parts.journal.recordsOf(this.name, zone.name)
    return made.filter((one) => one.name === name && one.type === type).map(({ value }) => value)
  }

  #joined(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal])
  }
}

function valuesOf({ records }: RecordSet): string[] {
  return records.map(({ value }) => value)
}

function isChallenge({ name, type }: MadeRecord): boolean {
  return type === 'TXT' && name.startsWith(ACME_LABEL)
}

async function systemResolveNs(name: string): Promise<string[]> {
  return await new Resolver({ timeout: 2_000, tries: 2 }).resolveNs(name)
}
