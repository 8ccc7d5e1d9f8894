// The only worker that changes ENS records: it makes the changes in order and retries those that failed.

import { pause, TIMER_MAX_MS } from '@svc/protocol/timers'
import { monotonic } from '../../core/clock.ts'
import type { Logger } from '../../core/log/log.ts'
import { type DnsProvider, DnsProviderError, type NameAddresses } from '../dns/provider.ts'
import { ProviderBackoff } from '../dns/provider-backoff.ts'
import {
  ENS_BATCH_NAMES,
  ENS_NAMES_MAX,
  ENS_RETURN_MS,
  TIMER_NAMES_PER_MS,
  TIMER_SLACK_MS,
} from './limits.ts'
import { type NameOwner, NameRecords } from './name-records.ts'
import type { PublishedNames } from './published-names.ts'

export interface EnsRecordsParts {
  provider: DnsProvider
  /** Undefined when the provider's records end with the process. */
  published: PublishedNames | undefined
  log: Logger
  /** Milliseconds after the first failure. */
  firstPauseMs?: number | undefined
  /** Milliseconds for which records of an earlier process stay while no lease needs them. */
  returnMs?: number | undefined
  /** Maximum number of known hostnames. */
  namesMax?: number | undefined
}

export class EnsRecords {
  readonly #parts: EnsRecordsParts
  readonly #namesMax: number
  readonly #names = new Map<string, NameRecords>()
  /** Hostnames with pending changes, in order of arrival. */
  readonly #ready = new Set<string>()
  /** The subset of these whose records are to be removed. */
  readonly #removals = new Set<string>()
  /** When to check a hostname again, in milliseconds of {@link monotonic}. */
  readonly #later = new Map<string, number>()
  /** Hostnames whose last change failed. */
  readonly #failing = new Map<string, ProviderBackoff>()
  /** Pauses while the provider fails for every name. */
  readonly #pauses: ProviderBackoff
  readonly #closing = new AbortController()
  #addresses: NameAddresses | undefined
  #running: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #lastError = ''

  constructor(parts: EnsRecordsParts) {
    this.#parts = parts
    this.#namesMax = parts.namesMax ?? ENS_NAMES_MAX
    this.#pauses = new ProviderBackoff(parts.firstPauseMs)
    const at = monotonic() + (parts.returnMs ?? ENS_RETURN_MS)
    for (const [hostname, text] of parts.published ?? []) {
      this.#names.set(hostname, new NameRecords(hostname, text))
      this.#later.set(hostname, at)
    }
    this.#arm()
  }

  /** The error of the last attempt; empty once everything that failed has succeeded. */
  get lastError(): string {
    return this.#lastError
  }

  /** Whether a public address is known: without one the hostnames of leases get no records. */
  get hasAddresses(): boolean {
    return this.#addresses !== undefined
  }

  /** Whether the hostname has its records. */
  isDone(hostname: string): boolean {
    return this.#names.get(hostname)?.isDone(this.#addresses) === true
  }

  /** @param owner undefined: the hostname's records are removed */
  want(hostname: string, owner: NameOwner | undefined): void {
    const name = this.#names.get(hostname) ?? this.#newName(hostname, owner)
    if (name === undefined) return
    // Renewing the lease does not shorten the pause of a failing name.
    if (this.#failing.has(hostname) && isSame(name.wanted, owner)) return
    name.wanted = owner
    this.#check(name)
    this.#start()
  }

  /**
   * Updates the addresses of every hostname that has some.
   * @param addresses nothing changes when both lists are empty
   */
  follow(addresses: NameAddresses): void {
    if (addresses.ipv4.length + addresses.ipv6.length === 0) return
    this.#addresses = addresses
    for (const name of this.#names.values()) if (name.wanted !== undefined) this.#check(name)
    this.#start()
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#closing.abort()
    await this.#running
    await this.#parts.published?.write().catch((error: Error) => this.#failed(error))
  }

  #newName(hostname: string, owner: NameOwner | undefined): NameRecords | undefined {
    if (owner === undefined) return undefined
    if (this.#names.size >= this.#namesMax) {
      this.#failed(
        new Error(`more than ${this.#namesMax} hostnames have ENS records or wait for their removal`),
      )
      return undefined
    }
    const name = new NameRecords(hostname)
    this.#names.set(hostname, name)
    return name
  }

  /** Queues a hostname that has pending changes, or dequeues one that has none. */
  #check(name: NameRecords): void {
    this.#later.delete(name.hostname)
    if (name.isDone(this.#addresses)) this.#settled(name)
    else this.#queue(name)
  }

  #queue(name: NameRecords): void {
    this.#ready.add(name.hostname)
    if (name.wanted === undefined) this.#removals.add(name.hostname)
    else this.#removals.delete(name.hostname)
  }

  #dequeue(hostname: string): void {
    this.#ready.delete(hostname)
    this.#removals.delete(hostname)
  }

  #settled(name: NameRecords): void {
    this.#dequeue(name.hostname)
    if (this.#failing.delete(name.hostname) && this.#failing.size === 0) this.#recovered()
    if (!name.isEmpty) return
    this.#names.delete(name.hostname)
    this.#parts.published?.remove(name.hostname)
  }

  #start(): void {
    if (this.#running !== undefined || this.#ready.size === 0 || this.#closing.signal.aborted) return
    this.#running = this.#work().finally(() => {
      this.#running = undefined
      this.#arm()
      this.#start()
    })
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing
    // Lets all calls of this event loop turn arrive first.
    await undefined
    while (this.#ready.size > 0 && !signal.aborted) {
      const batch = this.#nextBatch()
      try {
        await this.#note(batch)
        for (const name of batch) await this.#change(name)
      } catch (error) {
        if (!signal.aborted) await pause(this.#pauses.after(error), signal)
      }
    }
  }

  /** While changes fail, removals go first, since they make room for additions. */
  #nextBatch(): NameRecords[] {
    const batch: NameRecords[] = []
    const areRemovalsFirst = this.#failing.size > 0 && this.#removals.size > 0
    for (const hostname of areRemovalsFirst ? this.#removals : this.#ready) {
      const name = this.#names.get(hostname)
      if (name !== undefined) batch.push(name)
      if (batch.length === ENS_BATCH_NAMES) break
    }
    return batch
  }

  /** Writes records to the file before they are made, so that they can be removed after a crash. */
  async #note(batch: readonly NameRecords[]): Promise<void> {
    const names = batch.flatMap(({ hostname, text, wanted }) =>
      wanted !== undefined && (text === undefined || text === wanted.text)
        ? [[hostname, wanted.text] as const]
        : [],
    )
    await this.#parts.published?.add(names).catch((error: Error) => {
      this.#failed(error)
      throw error
    })
  }

  /** @throws the provider's error when other names would fail too */
  async #change(name: NameRecords): Promise<void> {
    const { provider, log } = this.#parts
    const { signal } = this.#closing
    if (signal.aborted || !this.#ready.has(name.hostname)) return
    try {
      await name.change(provider, this.#addresses, signal)
    } catch (error) {
      if (signal.aborted) return
      this.#failed(error as Error)
      this.#postpone(name.hostname, error)
      if (isOfOneName(error)) return
      throw error
    }
    this.#pauses.reset()
    log.debug({ hostname: name.hostname }, 'ENS records changed')
    // Changes requested meanwhile go to the end of the queue.
    this.#dequeue(name.hostname)
    this.#check(name)
    if (this.#failing.size === 0) this.#recovered()
  }

  #postpone(hostname: string, error: unknown): void {
    const pauses = this.#failing.get(hostname) ?? new ProviderBackoff(this.#parts.firstPauseMs)
    this.#failing.set(hostname, pauses)
    this.#dequeue(hostname)
    this.#later.set(hostname, monotonic() + pauses.after(error))
  }

  /** Sets the one timer for the earliest hostname to check later. */
  #arm(): void {
    clearTimeout(this.#timer)
    if (this.#later.size === 0 || this.#closing.signal.aborted) return
    let first = Number.POSITIVE_INFINITY
    for (const at of this.#later.values()) first = Math.min(first, at)
    const slackMs = Math.max(TIMER_SLACK_MS, this.#later.size / TIMER_NAMES_PER_MS)
    const delayMs = Math.min(Math.max(first - monotonic(), 0) + slackMs, TIMER_MAX_MS)
    this.#timer = setTimeout(() => this.#takeDue(), delayMs).unref()
  }

  #takeDue(): void {
    const time = monotonic()
    for (const [hostname, at] of this.#later) {
      if (at > time) continue
      this.#later.delete(hostname)
      const name = this.#names.get(hostname)
      if (name !== undefined) this.#queue(name)
    }
    if (this.#ready.size > 0) this.#start()
    else this.#arm()
  }

  #failed({ message }: Error): void {
    if (message !== this.#lastError)
      this.#parts.log.warn(
        { reason: message },
        'ENS records are not in sync; the relay tries again with growing pauses',
      )
    this.#lastError = message
  }

  #recovered(): void {
    if (this.#lastError === '') return
    this.#lastError = ''
    this.#parts.log.info('the ENS records are in sync again')
  }
}

function isSame(one: NameOwner | undefined, other: NameOwner | undefined): boolean {
  return one?.text === other?.text && one?.hasAddresses === other?.hasAddresses
}

/** Whether an error affects only one name. */
function isOfOneName(error: unknown): boolean {
  return error instanceof DnsProviderError && ['conflict', 'full', 'not_propagated'].includes(error.fault)
}
