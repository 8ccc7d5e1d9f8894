// Keeps one site at several relays: at all that the caller named, and at a number of others, which it discovers and replaces.

import type { FetchFunction } from '../control/relay-client.ts'
import { asSvcError, SvcError } from '../errors.ts'
import type { Site } from '../site/site.ts'
import { Deadline } from '../timers/deadline.ts'
import { Candidates } from './candidates.ts'
import { FailedRelays } from './failed-relays.ts'
import { ATTEMPTS_SPARE } from './limits.ts'
import { Member } from './member.ts'
import { NamedRelays } from './named-relays.ts'
import { type RelayFailure, RelayFailures } from './relay-failures.ts'
import type { SignerOf, Wanted } from './relay-list.ts'

/** RelaySitesOptions says at which relays to publish a site, and how. */
export interface RelaySitesOptions<S extends Site> {
  /** The relays that the caller named, each origin once. */
  relays: readonly URL[]
  /** The number of other relays. */
  discover: number
  wanted: Wanted
  fetch: FetchFunction
  signerOf: SignerOf
  /**
   * Publishes the site at a relay, and calls `onSite` with it before it connects.
   * @param signal closes the site
   */
  publish(relay: URL, isExplicit: boolean, onSite: (site: S) => void, signal: AbortSignal): Promise<S>
  /** Called with each site before it connects. */
  begun?(site: S, relay: URL, isExplicit: boolean): void
  /** Called after the sites, or the state of one, changed. */
  changed?(): void
  /** Called when a relay did not accept the site, or named no others. */
  failed?(relay: string, error: SvcError): void
}

/**
 * RelaySites keeps a site online at each relay that the caller named, and at `discover` others. It replaces
 * discovered relays that fail, and never a working one.
 */
export class RelaySites<S extends Site> {
  /** Resolves when the site has ended at all relays: with the error, or undefined after {@link close}. */
  readonly ended: Promise<SvcError | undefined>
  #options: RelaySitesOptions<S>
  #members: Member<S>[] = []
  /** The sites that are closing. */
  #leaving = new Set<Promise<void>>()
  #named: NamedRelays
  #failed = new FailedRelays()
  #failures: RelayFailures
  #candidates: Candidates | undefined
  #timer = new Deadline(() => this.#settle())
  #online = Promise.withResolvers<void>()
  #settled = Promise.withResolvers<void>()
  #over = Promise.withResolvers<SvcError | undefined>()
  #wasOnline = false
  #isSuspended = false
  #closing: Promise<void> | undefined
  #run = new AbortController()

  constructor(options: RelaySitesOptions<S>) {
    this.#options = options
    this.#named = new NamedRelays(options.relays)
    this.#failures = new RelayFailures((origin) => this.#named.has(origin))
    this.ended = this.#over.promise
    this.#online.promise.catch(() => {})
    if (options.discover > 0) this.#candidates = this.#newCandidates(options)
  }

  /** True from the start of {@link close}, and when no relay accepts the site. */
  get isClosed(): boolean {
    return this.#run.signal.aborted
  }

  /** The sites, those at the named relays first. */
  get sites(): S[] {
    return this.#ordered.flatMap(({ site }) => (site && site.state !== 'closed' ? [site] : []))
  }

  /** The sites at the named relays, in the order of the relays. */
  get explicitSites(): S[] {
    return this.#ordered.flatMap(({ site, isExplicit }) => (site && isExplicit ? [site] : []))
  }

  /** The relays that did not accept the site, and those that named no others at the last search. */
  get failures(): RelayFailure[] {
    return [...this.#failures.list, ...(this.#candidates?.failures ?? [])]
  }

  /**
   * Resolves when visitors can connect at one relay.
   * @throws SvcError the failure at the first relay, when no relay accepts the site
   */
  async start(): Promise<void> {
    this.#settle()
    await this.#online.promise
  }

  /** Resolves when each relay has accepted the site, failed, made it wait, or timed out; with `discover`, after the first search. */
  get settled(): Promise<void> {
    return this.#settled.promise
  }

  /** Leaves a relay for good, such as one that intercepts TLS. With `discover`, another one replaces it. */
  leave(site: S, error: SvcError): void {
    const member = this.#members.find((each) => each.site === site)
    if (!member) return
    this.#failed.ban(member.relay.origin, error.code)
    this.#remove(member, error)
    this.#settle()
  }

  /** Retries unreachable relays, because the network is back or the page is visible again. */
  wake(): void {
    this.#failed.forgiveUnreachable()
    this.#candidates?.wake()
    this.#settle()
  }

  /** Disconnects the sites, without replacement, because the page goes away. */
  suspend(): void {
    this.#isSuspended = true
    this.#timer.clear()
  }

  resume(): void {
    this.#isSuspended = false
    for (const member of this.#members) member.restart()
    this.wake()
  }

  /** Removes the site from all relays. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close(undefined)
    return this.#closing
  }

  async #close(error: SvcError | undefined): Promise<void> {
    this.#timer.close()
    this.#run.abort()
    this.#online.reject(error ?? new SvcError('aborted', 'the site was closed before it was online'))
    this.#settled.resolve()
    const members = this.#members
    for (const { leaving } of members) leaving.abort()
    this.#options.changed?.()
    await Promise.all([...members.map(({ site }) => site?.close()), ...this.#leaving])
    this.#over.resolve(error)
  }

  get #ordered(): Member<S>[] {
    const placeOf = ({ relay }: Member<S>): number => this.#named.placeOf(relay.origin)
    return this.#members.toSorted((a, b) => placeOf(a) - placeOf(b))
  }

  /** The number of relays to keep. It includes replacements for named relays that ended the site for good. */
  get #wantedCount(): number {
    const { discover } = this.#options
    return discover === 0 ? 0 : discover + this.#named.lostCount
  }

  #newCandidates({ wanted, fetch, signerOf, failed }: RelaySitesOptions<S>): Candidates {
    return new Candidates({
      wanted,
      fetch,
      signerOf,
      signal: this.#run.signal,
      asked: () => this.#asked,
      isExcluded: (origin) => this.#named.has(origin) || this.#isMember(origin),
      until: (origin) => this.#failed.until(origin),
      found: () => this.#settle(),
      failed: ({ relay, error }) => failed?.(relay, error),
    })
  }

  /** The relays to ask for others; online ones come first. */
  get #asked(): URL[] {
    const online = this.#members.filter(({ isOnline }) => isOnline).map(({ relay }) => relay)
    return [...new Map([...online, ...this.#named.left].map((relay) => [relay.origin, relay])).values()]
  }

  #isMember(origin: string): boolean {
    return this.#members.some(({ relay }) => relay.origin === origin)
  }

  /**
   * Brings the relays to the wanted state: starts, replaces and gives up. Called after each change, and when time makes a
   * difference.
   */
  #settle(): void {
    if (this.isClosed || this.#isSuspended) return
    const now = performance.now()
    this.#beginExplicit(now)
    this.#giveUp(now)
    this.#beginDiscovered(now)
    if (this.#isOver()) return
    if (this.#isSettled(now)) this.#settled.resolve()
    this.#timer.set(this.#nextAt(now))
  }

  /** Retries named relays that could not be reached, as long as the site is at another one. */
  #beginExplicit(now: number): void {
    for (const relay of this.#named.left)
      if (!this.#isMember(relay.origin) && this.#failed.until(relay.origin) <= now) this.#begin(relay, true)
  }

  /** A relay that lost the site is kept until a replacement has it. If it comes back first, the replacement goes. */
  #giveUp(now: number): void {
    for (const member of this.#discovered)
      if (!member.isOnline && member.givenUpAt <= now) this.#fail(member, notInTime(member))
    const online = this.#discovered.filter(({ isOnline }) => isOnline)
    if (online.length < this.#wantedCount) return
    const surplus = online.toSorted((a, b) => a.since - b.since).slice(this.#wantedCount)
    const away = this.#discovered.filter(({ isOnline }) => !isOnline)
    for (const member of away)
      if (member.wasOnline) this.#fail(member, notInTime(member))
      else this.#remove(member, undefined)
    for (const member of surplus) this.#remove(member, undefined)
  }

  #beginDiscovered(now: number): void {
    const isGood = (member: Member<S>): boolean => member.isOnline || member.patientUntil > now
    for (;;) {
      const missing = this.#wantedCount - this.#discovered.filter(isGood).length
      const attempts = this.#discovered.filter(({ wasOnline }) => !wasOnline).length
      if (missing <= 0 || attempts >= this.#wantedCount + ATTEMPTS_SPARE) break
      const candidate = this.#candidates?.next(this.#members.map(({ relay }) => relay))
      if (!candidate) break
      this.#begin(candidate, false)
    }
    const count = (is: (member: Member<S>) => boolean): number => this.#discovered.filter(is).length
    const isMissing = count(isGood) < this.#wantedCount
    const isWhole = count(({ isOnline }) => isOnline) >= this.#wantedCount
    this.#candidates?.searchWhenDue(isMissing, isWhole)
  }

  get #discovered(): Member<S>[] {
    return this.#members.filter(({ isExplicit }) => !isExplicit)
  }

  async #begin(relay: URL, isExplicit: boolean): Promise<void> {
    const member = new Member<S>(relay, isExplicit)
    this.#members.push(member)
    const onSite = (site: S): void => {
      member.site = site
      site.addEventListener('statechange', () => this.#changed(member))
      site.addEventListener('error', ({ error }) => this.#errorCame(member, error))
      this.#options.begun?.(site, relay, isExplicit)
    }
    try {
      await this.#options.publish(relay, isExplicit, onSite, member.leaving.signal)
      member.isTaken = true
      // The site may have ended meanwhile.
      this.#changed(member)
    } catch (cause) {
      this.#fail(member, asSvcError(cause, 'relay_unreachable', 'the site could not be published'))
      this.#settle()
    }
  }

  #changed(member: Member<S>): void {
    if (this.isClosed || !this.#members.includes(member)) return
    if (member.site?.state === 'closed') {
      // Before the site is published, the rejection has the reason.
      if (!member.isTaken) return
      // The event with the reason follows the change of state.
      queueMicrotask(() => {
        this.#fail(member, member.error ?? new SvcError('aborted', 'the site was closed'))
        this.#settle()
      })
      return
    }
    const wasAway = !this.#members.some(({ isOnline }) => isOnline)
    if (member.update() && member.isOnline) {
      this.#failures.delete(member.relay.origin)
      this.#wasOnline = true
      this.#online.resolve()
      // This machine's own network was down, not the relays.
      if (wasAway) this.#failed.forgiveUnreachable()
    }
    this.#options.changed?.()
    this.#settle()
  }

  #errorCame(member: Member<S>, error: SvcError): void {
    if (member.isOnline) return
    member.error = error
    this.#settle()
  }

  /** Handles a relay that did not accept the site or lost it. */
  #fail(member: Member<S>, error: SvcError): void {
    if (this.isClosed || !this.#members.includes(member)) return
    this.#failed.add(member.relay.origin, error.code, member.onlineMs)
    this.#remove(member, error)
  }

  #remove(member: Member<S>, error: SvcError | undefined): void {
    const { origin } = member.relay
    this.#members = this.#members.filter((each) => each !== member)
    member.leaving.abort()
    const left = member.site?.close().then(() => void this.#leaving.delete(left!))
    if (left) this.#leaving.add(left)
    if (error) {
      if (error.code !== 'aborted') this.#failures.keep(origin, error)
      if (member.isExplicit && !(error.code === 'relay_unreachable' && !member.wasOnline))
        this.#named.lose(origin, error)
      this.#options.failed?.(origin, error)
    }
    this.#options.changed?.()
  }

  /** Returns whether the site ends: no relay has it and none will, or another process took its name at every named relay. */
  #isOver(): boolean {
    const { all, left, lastError, isTakenOver } = this.#named
    const isSomewhere = this.#members.length > 0 || this.#isSearching
    const mayComeBack = this.#wasOnline && left.length > 0
    if (!isTakenOver && (isSomewhere || mayComeBack)) return false
    const first = this.#wasOnline ? undefined : this.#failures.of(all[0]!.origin)
    this.#closing ??= this.#close(first ?? lastError)
    return true
  }

  get #isSearching(): boolean {
    return this.#candidates?.isFirst ?? false
  }

  #isSettled(now: number): boolean {
    const isDecided = (member: Member<S>): boolean =>
      member.isOnline ||
      member.site?.state === 'waiting' ||
      (!member.isExplicit && member.patientUntil <= now)
    return this.#wasOnline && !this.#isSearching && this.#members.every(isDecided)
  }

  /** The time of `performance.now()` at which something is due. */
  #nextAt(now: number): number {
    const times = [this.#candidates?.nextAt ?? Number.POSITIVE_INFINITY]
    for (const member of this.#discovered)
      if (!member.isOnline) times.push(member.patientUntil, member.givenUpAt)
    for (const { origin } of this.#named.left)
      if (!this.#isMember(origin)) times.push(this.#failed.until(origin))
    return Math.min(...times.filter((time) => time > now))
  }
}

function notInTime({ error, relay }: Member<Site>): SvcError {
  return error ?? new SvcError('relay_unreachable', `${relay.origin} did not bring the site online in time`)
}
