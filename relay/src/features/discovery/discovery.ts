// Collects what the relay knows of other relays: from their announcements, from relays that name them, and from
// themselves.

import { setImmediate } from 'node:timers/promises'
import { DISCOVERY_VERSIONS, type DiscoveryResponse, type RelayDescriptor } from '@svc/protocol'
import { now, toWallTime } from '../../core/clock.ts'
import { RelayError } from '../../core/errors.ts'
import type { Logger } from '../../core/log/log.ts'
import { RELEASE_VERSION } from '../../core/version.ts'
import { type Candidate, Candidates } from './candidates.ts'
import { type ReadDescriptor, readDescriptor, timeFault } from './descriptor-rules.ts'
import type { DescriptorSignatures } from './descriptor-signatures.ts'
import { DialLimits } from './dial-limits.ts'
import { IncompatibleRelays } from './incompatible-relays.ts'
import { KnownRelays } from './known-relays.ts'
import { ANNOUNCE_MS, BOOTSTRAP_LIST_MS, NEWS_SHARE, WHOLE_LISTS_PER_INTERVAL } from './limits.ts'
import { relayNetworkOf } from './networks.ts'
import type { OwnDescriptor } from './own-descriptor.ts'
import { Polls } from './polls.ts'
import { RecentLookups } from './recent-lookups.ts'
import { noRefusals, type Refusal, type RefusalCounts, RelayRefused, refusalOf } from './refusals.ts'
import type { AskOverlay, MayAsk, OnIncompatible, RelayList, RelayQueries } from './relay-queries.ts'
import type { DiscoveryLimits } from './settings.ts'
import { SiteSearch } from './site-search.ts'
import { isStatedBySite, type RecoverSigner } from './site-statements.ts'

/** The refusals of a relay that cannot be reached, but may answer over the overlay. */
const AWAY: ReadonlySet<Refusal | undefined> = new Set<Refusal>(['unreachable', 'timeout'])
/** Descriptors of a list that are read in one turn of the event loop, at some 10 µs each. */
const READ_PER_TURN = 64

export interface RelayDiscoveryParts {
  own: OwnDescriptor
  /** Origins from the settings. */
  bootstraps: ReadonlySet<string>
  allowsLoopback: boolean
  isBanned: (address: string, origin: string) => boolean
  signatures: DescriptorSignatures
  recoverSigner: RecoverSigner
  queries: (onIncompatible: OnIncompatible, mayAsk: MayAsk) => RelayQueries
  limits: DiscoveryLimits
  signal: AbortSignal
  log: Logger
}

export class RelayDiscovery {
  readonly relays: KnownRelays
  readonly sites: SiteSearch
  readonly refusals: RefusalCounts = noRefusals()
  readonly #parts: RelayDiscoveryParts
  readonly #queries: RelayQueries
  /** Relays that announced themselves, and those that others named: many of one kind do not delay the other. */
  readonly #announced: Candidates
  readonly #listed: Candidates
  readonly #recentLookups: RecentLookups
  readonly #polls: Polls
  readonly #incompatible = new IncompatibleRelays()
  /** Bootstrap relay → when this relay announced itself there, in relay time. */
  readonly #announcedAt = new Map<string, number>()
  /** Bootstrap relay → the relay time after which it is asked for its whole list again. */
  readonly #wholeFrom = new Map<string, number>()
  readonly #dials: DialLimits
  #askOverlay: AskOverlay | undefined

  constructor(parts: RelayDiscoveryParts) {
    const { limits } = parts
    this.#parts = parts
    this.#dials = new DialLimits(limits.dialsPerNetwork)
    this.relays = new KnownRelays(parts.isBanned)
    this.#queries = parts.queries(
      (origin, version) => this.#incompatible.add(origin, version),
      (origin, address) => this.#mayAsk(origin, relayNetworkOf(address)),
    )
    this.#recentLookups = new RecentLookups(limits.pollMs)
    const candidates = (): Candidates =>
      new Candidates({
        look: (candidate) => this.#look(candidate),
        times: this.#recentLookups,
        max: limits.candidatesMax,
      })
    this.#announced = candidates()
    this.#listed = candidates()
    this.sites = new SiteSearch({
      origins: () => Array.from(this.relays.current(now()), ({ origin }) => origin),
      hasSite: async (origin, canonicalLabel, signal) => {
        const statement = await this.#queries.siteStatement(origin, canonicalLabel, signal)
        const site = { canonicalLabel, origin }
        return await isStatedBySite(statement, site, toWallTime(now()), parts.recoverSigner)
      },
      resultMs: limits.siteResultMs,
    })
    this.#polls = new Polls({
      pollMs: limits.pollMs,
      earlyMs: limits.earlyMs,
      targets: () => this.#targets(),
      ask: (origin) => this.#poll(origin),
      isAskedEarly: (origin) => parts.bootstraps.has(origin),
    })
  }

  /** Number of relays that wait to be checked. */
  get waiting(): number {
    return this.#announced.size + this.#listed.size
  }

  start(): void {
    this.#polls.start()
  }

  /** From now on, relays whose public address does not answer are asked over the overlay. */
  useOverlay(ask: AskOverlay): void {
    this.#askOverlay = ask
  }

  close(): void {
    this.#polls.close()
    this.#announced.close()
    this.#listed.close()
  }

  /** @param isWhole true to list all known relays, false for this relay only */
  answer(own: RelayDescriptor, isWhole: boolean): DiscoveryResponse {
    const known = isWhole ? [...this.relays.current(now())] : []
    const releases = known.flatMap(({ origin, release }) => (release === '' ? [] : [[origin, release]]))
    return {
      protocol_version: `${own.version}`,
      generated_at: new Date().toISOString(),
      relays: [own, ...known.map(({ descriptor }) => descriptor)],
      incompatible_relays: isWhole ? this.#incompatible.list.filter(({ url }) => !this.#isBanned(url)) : [],
      release_version: RELEASE_VERSION,
      relay_release_versions: Object.fromEntries(releases),
    }
  }

  /**
   * Takes the announcement of a relay.
   * @param source network of the client
   * @returns whether it will be checked, or is known
   * @throws RelayRefused, which was counted
   */
  async announce(version: string, value: unknown, source: string): Promise<boolean> {
    try {
      if (!DISCOVERY_VERSIONS.includes(version)) throw new RelayRefused('incompatible')
      const read = this.#read(value)
      await this.#requireGenuine(read)
      if (this.relays.at(read.origin) !== undefined) {
        this.relays.refresh(read)
        this.#polls.soon(read.origin)
      } else if (!this.#announced.offer({ read, isGenuine: true, source })) throw new RelayRefused('busy')
      return true
    } catch (error) {
      const reason = this.#count(error)
      if (reason === 'incompatible' || reason === 'busy') return false
      throw error
    }
  }

  *#targets(): Generator<string> {
    this.relays.sweep(now())
    for (const origin of this.#parts.bootstraps)
      if (origin !== this.#parts.own.origin && !this.#isBanned(origin)) yield origin
    for (const { origin } of this.relays) yield origin
  }

  /** Asks a bootstrap relay or a known one. */
  async #poll(origin: string): Promise<boolean> {
    const isBootstrap = this.#parts.bootstraps.has(origin)
    try {
      const isKnown = this.relays.at(origin) !== undefined
      const isDue = !isKnown || this.#polls.isEarly || (this.#wholeFrom.get(origin) ?? 0) <= now()
      const isWhole = (isBootstrap && isDue) || this.#wantsWhole()
      const list = await this.#queries.list(origin, isWhole, !isKnown)
      if (isKnown) await this.#confirm(origin, list)
      const unknown = isWhole ? await this.#offerAll(list, origin) : 0
      if (isBootstrap && isWhole) {
        const hasNews = unknown > list.relays.length * NEWS_SHARE
        this.#wholeFrom.set(origin, hasNews ? 0 : now() + BOOTSTRAP_LIST_MS)
        const announcedAt = this.#announcedAt.get(origin) ?? Number.NEGATIVE_INFINITY
        if (!this.#isIn(list) || now() - announcedAt >= ANNOUNCE_MS) await this.#announceTo(origin)
      }
      return true
    } catch (error) {
      const reason = this.#count(error)
      if (reason !== undefined) this.relays.failed(origin)
      return AWAY.has(reason) && (await this.#pollOverlay(origin))
    }
  }

  /** Asks over the overlay. A relay that answers only there stays a peer, but is not passed on to others. */
  async #pollOverlay(origin: string): Promise<boolean> {
    const held = this.relays.at(origin)
    if (this.#askOverlay === undefined || held?.isConfirmed !== true) return false
    try {
      const [own] = await this.#queries.listOver(this.#askOverlay, origin)
      const read = this.#read(own)
      if (read.origin !== origin || read.address !== held.address) throw new RelayRefused('other_address')
      await this.#requireGenuine(read)
      this.relays.link(read)
      return true
    } catch (error) {
      if (!(error instanceof RelayRefused)) this.#count(error)
      return false
    }
  }

  /** Checks a relay that somebody named, and takes what it states about itself. */
  async #look({ read, isGenuine }: Candidate): Promise<void> {
    const { origin, address } = read
    try {
      // It may have been banned, or become known, while it waited.
      const objection = this.relays.objectionTo(read, now())
      if (objection !== undefined) throw new RelayRefused(objection)
      if (!isGenuine) await this.#requireGenuine(read)
      this.#recentLookups.add(origin)
      await this.#queries.requireRelay(origin)
      const isWhole = this.#wantsWhole()
      const list = await this.#queries.list(origin, isWhole, false)
      const confirmed = await this.#confirm(origin, list)
      this.#polls.asked(origin)
      if (isWhole) await this.#offerAll(list, origin)
      // Otherwise relays without a common bootstrap relay that both ask now would learn of each other late.
      if (isWhole && !this.#isIn(list)) await this.#announceTo(origin)
      if (confirmed.address !== address) throw new RelayRefused('other_address')
    } catch (error) {
      this.#count(error)
    }
  }

  /** Takes what a relay states about itself. @throws RelayRefused */
  async #confirm(origin: string, { relays, network, release }: RelayList): Promise<ReadDescriptor> {
    const own = relays.find((value) => originIn(value) === origin)
    if (own === undefined) throw new RelayRefused('bad_answer')
    const read = this.#read(own)
    await this.#requireGenuine(read)
    const objection = this.relays.confirm(read, { network, release }, now())
    if (objection !== undefined) throw new RelayRefused(objection)
    this.#incompatible.remove(origin)
    return read
  }

  /**
   * Offers the relays that `source` named, except known ones. A relay that was asked only for itself cannot name
   * others: otherwise one that names a thousand would make all relays ask those in each interval.
   * @returns how many of those that it named are not known
   */
  async #offerAll({ relays }: RelayList, source: string): Promise<number> {
    let unknown = 0
    for (const [index, value] of relays.entries()) {
      if (index % READ_PER_TURN === READ_PER_TURN - 1) await setImmediate()
      // Most entries of a list are already known in this form, and are not parsed.
      const { api_https_addr: url = '', address } = (value ?? {}) as Partial<RelayDescriptor>
      const held = this.relays.at(url)
      if (held !== undefined && held.descriptor.address === address) continue
      const origin = originIn(value)
      if (origin === this.#parts.own.origin || this.#knows(origin, value)) continue
      unknown += 1
      if (origin !== undefined && this.#listed.isIdle(origin, source)) continue
      try {
        if (!this.#listed.offer({ read: this.#read(value), isGenuine: false, source }))
          throw new RelayRefused('busy')
      } catch (error) {
        this.#count(error)
      }
    }
    return unknown
  }

  /** A relay may be asked in the network where it was found; dials to other networks are limited. */
  #mayAsk(origin: string, network: string): boolean {
    return this.relays.at(origin)?.network === network || this.#dials.take(network)
  }

  #isBanned(origin: string): boolean {
    return this.#parts.isBanned('', origin)
  }

  #knows(origin: string | undefined, value: unknown): boolean {
    const held = origin === undefined ? undefined : this.relays.at(origin)
    const { address } = (value ?? {}) as { address?: unknown }
    return held !== undefined && typeof address === 'string' && held.address === address.toLowerCase()
  }

  /** Returns whether a list contains this relay. */
  #isIn({ relays }: RelayList): boolean {
    return relays.some((value) => originIn(value) === this.#parts.own.origin)
  }

  /** Announces this relay to another one. A failure is only counted. */
  async #announceTo(origin: string): Promise<void> {
    const { own, bootstraps } = this.#parts
    try {
      const descriptor = await own.current()
      await this.#queries.announce(origin, { protocol_version: `${descriptor.version}`, descriptor })
      if (bootstraps.has(origin)) this.#announcedAt.set(origin, now())
    } catch (error) {
      this.#count(error)
    }
  }

  #wantsWhole(): boolean {
    return Math.random() * this.#polls.size < WHOLE_LISTS_PER_INTERVAL
  }

  /** @throws RelayRefused unless everything but the signature is in order */
  #read(value: unknown): ReadDescriptor {
    const { own, allowsLoopback } = this.#parts
    const read = readDescriptor(value, allowsLoopback)
    if (read.origin === own.origin || read.address === own.address) throw new RelayRefused('own')
    const time = now()
    const fault = timeFault(read, toWallTime(time)) ?? this.relays.objectionTo(read, time)
    if (fault !== undefined) throw new RelayRefused(fault)
    return read
  }

  async #requireGenuine({ descriptor }: ReadDescriptor): Promise<void> {
    if (!(await this.#parts.signatures.isGenuine(descriptor))) throw new RelayRefused('forged')
  }

  /** @returns undefined when this relay is closing, or is itself at fault */
  #count(error: unknown): Refusal | undefined {
    // A RelayError means that too many signatures wait for verification.
    if (this.#parts.signal.aborted || error instanceof RelayError) return undefined
    try {
      const reason = refusalOf(error)
      if (reason !== undefined) this.refusals[reason] += 1
      return reason
    } catch {
      this.#parts.log.error({ err: error }, 'a relay could not be looked at')
      return undefined
    }
  }
}

/** Returns the origin in a value that may be a descriptor. */
function originIn(value: unknown): string | undefined {
  const { api_https_addr: url } = (value ?? {}) as Partial<RelayDescriptor>
  return typeof url === 'string' ? URL.parse(url)?.origin : undefined
}
