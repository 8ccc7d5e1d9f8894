// Follows one tunnel's site at each relay: it reports and shows changes, and knows when all are closed.

import { compareVersions } from '@svc/protocol'
import type { PlatformSite, SvcError } from '@svc/sdk-core'
import type { ProbeReport } from '../../expose/options.ts'
import { RELEASE_VERSION } from '../../version.ts'
import { EXIT, type ExitCode } from '../report/exit-codes.ts'
import { explainError } from '../report/explain-error.ts'
import type { DomainStateReport, Report, Reporter, Targets } from '../report/report.ts'
import {
  addressesOf,
  copyOf,
  domainsOf,
  type SiteEntry,
  type StatusStore,
  waitingOf,
} from '../report/status-store.ts'

/** The shortest interval between identical reports, in milliseconds: a busy site has many visitors, a full relay many refusals. */
const REPEAT_PAUSE_MS = 5_000

/**
 * How long the relay may be without a copy before that is reported, in milliseconds: changed files are uploaded again, and the old
 * copy is deleted first.
 */
export const COPY_CHANGE_MS = 10_000

export interface CommandContext {
  tell: Reporter
  store: StatusStore
  /** Its address, if it has one, is reported with a site. */
  inspector: { readonly url: string | undefined }
  /** Called before a site is reported to be online or to wait. */
  begun(): Promise<void>
  /** The follower ends the tunnel when this signal aborts. */
  signal: AbortSignal
}

interface Tunnel {
  /** The tunnel's name; undefined when it is derived from the identity. */
  tunnel: string | undefined
  /** The tunnel's position in the view. */
  position: number
  /** True when the tunnel answers at its HTTPS URL. */
  hasWeb: boolean
  targets?: Targets | undefined
  /** The origins of the relays that the command names. Others are discovered and may change. */
  named: ReadonlySet<string>
  /** Called when a site is online or waits. */
  onShown?: (() => void) | undefined
}

export class SiteFollower {
  /** Resolves, with the exit code, when the tunnel has ended at all relays and every site that was online or waited is closed. */
  readonly over: Promise<ExitCode>
  readonly #context: CommandContext
  readonly #tunnel: Tunnel
  #rows: SiteEntry[] = []
  /** The reported rows that are not closed. */
  readonly #shown = new Set<SiteEntry>()
  readonly #over = Promise.withResolvers<ExitCode>()
  /** The rows that were reported to have a copy at the relay. */
  readonly #copies = new Set<SiteEntry>()
  /** The rows whose relay may be receiving another copy. */
  readonly #copyChanges = new Map<SiteEntry, NodeJS.Timeout>()
  /** The reported newer release of each relay. */
  readonly #offered = new Map<string, string>()
  /** The last report of each domain at each relay. */
  readonly #domains = new Map<string, string>()
  /** The failure of the previous attempt at a row's relay. */
  readonly #failuresBefore = new WeakMap<SiteEntry, SiteEntry['failure']>()
  readonly #saidAt = new Map<string, number>()
  /** Resolves when the last report was sent: they are sent in order, though some have to wait. */
  #told: Promise<void> = Promise.resolve()
  #ending: Promise<void>[] = []
  #exitCode: ExitCode = EXIT.ok
  #isEnded = false

  constructor(context: CommandContext, tunnel: Tunnel) {
    this.#context = context
    this.#tunnel = tunnel
    this.over = this.#over.promise
  }

  follow(site: PlatformSite, relay: string): void {
    // Retries a relay that failed.
    const before = this.#rows.find((row) => row.relay === relay && !this.#shown.has(row))
    if (before) this.#forget(before)
    const row = this.#add(relay, site, undefined)
    this.#failuresBefore.set(row, before?.failure)
    site.addEventListener('statechange', () => this.#changed(row, site))
    site.addEventListener('cachechange', () => this.#copied(row))
    site.addEventListener('domainschange', () => this.#domainsChanged(row, site))
    site.addEventListener('error', ({ error }) => this.#failedLater(row, site, error))
  }

  /** Shows that the site at `relay` could not be published, or that the relay could not be asked. */
  failed(relay: string, error: unknown): void {
    const { code, message } = explainError(error)
    const failure = { code, message }
    const row = this.#rows.find((row) => row.relay === relay)
    if (!row && this.#tunnel.named.has(relay)) this.#add(relay, undefined, failure)
    else if (row && !this.#shown.has(row)) row.failure = failure
  }

  /** Notes that the tunnel has ended at all relays. */
  ended(): void {
    this.#isEnded = true
    this.#endWhenOver()
  }

  /**
   * Reports an error that does not end the tunnel.
   * @param relay the relay that the error concerns; undefined for an error of the target
   */
  complain(relay: string | undefined, error: unknown): void {
    const { code, message } = explainError(error)
    this.warn(code, message, relay)
  }

  /** Reports what is not as it should be, and does not end the tunnel. */
  warn(code: string, message: string, relay?: string): void {
    if (this.#mayRepeat(`${relay} ${code}`)) this.#say({ event: 'error', relay, code, message })
  }

  /** Reports that a target cannot be reached, or, without a reason, that it can be reached again. */
  targetChanged(target: string, reason: string | undefined): void {
    const code = 'target_unreachable'
    if (reason === undefined) this.#say({ event: 'resolved', target, code })
    else this.#say({ event: 'error', target, code, message: reason })
  }

  /**
   * Shows and reports the verdict of a self-probe.
   * @param isLeaving whether the site is closed when the relay is suspected
   */
  probed({ site, verdict, domain }: ProbeReport, isLeaving: boolean): void {
    const row = this.#rows.find((row) => row.site === site)
    if (!row) return
    const { store } = this.#context
    // While no probe is possible, report that only once.
    const isKnown = verdict === 'cached' && store.verdictOf(site) === verdict
    store.probed(site, verdict, domain)
    if (isKnown) return
    this.#say({ event: 'probe', relay: row.relay, domain, verdict })
    const isLeft = isLeaving && verdict === 'suspected' && (domain === undefined || this.#rows.length === 1)
    if (isLeft && this.#isNamed(row)) this.#endsWith(EXIT.ended)
  }

  /** Resolves when closed sites have unregistered their leases and every report was sent. */
  async settled(): Promise<void> {
    await Promise.all(this.#ending)
    await this.#told
  }

  /** Removes the tunnel from the store. */
  forget(): void {
    for (const row of this.#rows) this.#context.store.remove(row)
  }

  #changed(row: SiteEntry, site: PlatformSite): void {
    const { relay } = row
    switch (site.state) {
      case 'online':
        this.#shown.add(row)
        this.#say({ event: 'online', relay, ...addressesOf(row), targets: row.targets })
        this.#tunnel.onShown?.()
        this.#offerUpdate(relay, site)
        break
      case 'waiting':
        this.#shown.add(row)
        if (this.#mayRepeat(`${relay} ${site.waiting!.reason}`))
          this.#say({ event: 'waiting', relay, ...waitingOf(row)! })
        this.#tunnel.onShown?.()
        break
      case 'reconnecting':
        this.#say({ event: 'reconnecting', relay })
        break
      case 'closed':
        // Waits for the site's own shutdown, which unregisters the lease.
        if (this.#shown.has(row)) this.#ending.push(site.close().then(() => this.#closed(row)))
        else if (this.#isNamed(row)) row.failure ??= this.#failuresBefore.get(row)
        else this.#forget(row)
    }
  }

  /** Reports when the relay has a copy and when it no longer has one. The expiry changes all the time and is not reported. */
  #copied(row: SiteEntry): void {
    clearTimeout(this.#copyChanges.get(row))
    const { present } = copyOf(row)!
    if (present === this.#copies.has(row)) return
    if (present) this.#sayCopy(row)
    else this.#copyChanges.set(row, setTimeout(() => this.#sayCopy(row), COPY_CHANGE_MS).unref())
  }

  #sayCopy(row: SiteEntry): void {
    const copy = copyOf(row)!
    if (copy.present) this.#copies.add(row)
    else this.#copies.delete(row)
    const { canonical_url } = addressesOf(row)
    this.#say({ event: 'cache', relay: row.relay, ...copy, canonical_url })
  }

  /** Reports each domain whose state is not what was reported last. */
  #domainsChanged({ relay }: SiteEntry, site: PlatformSite): void {
    for (const status of domainsOf(site) ?? []) {
      const report: DomainStateReport = { event: 'domain', relay, ...status }
      const said = JSON.stringify(report)
      const key = `${relay} ${status.domain}`
      if (this.#domains.get(key) === said) continue
      this.#domains.set(key, said)
      this.#say(report)
    }
  }

  /** Reports, once for each release, that the relay has a newer one. */
  #offerUpdate(relay: string, { relayRelease: release = '' }: PlatformSite): void {
    if ((compareVersions(release, RELEASE_VERSION) ?? 0) <= 0) return
    if (this.#offered.get(relay) === release) return
    this.#offered.set(relay, release)
    this.#say({ event: 'update', relay, release_version: release, svc_version: RELEASE_VERSION })
  }

  #closed(row: SiteEntry): void {
    if (row.failure === undefined || !this.#isNamed(row)) this.#forget(row)
    clearTimeout(this.#copyChanges.get(row))
    // A relay that ended the site itself may also have removed the copy.
    const cache = this.#context.signal.aborted && copyOf(row)?.present ? copyOf(row) : undefined
    this.#say({ event: 'closed', relay: row.relay, ...(cache && { cache }) })
    this.#shown.delete(row)
    this.#endWhenOver()
  }

  #endWhenOver(): void {
    if (this.#isEnded && this.#shown.size === 0) this.#over.resolve(this.#exitCode)
  }

  #isNamed({ relay }: SiteEntry): boolean {
    return this.#tunnel.named.has(relay)
  }

  #add(relay: string, site: PlatformSite | undefined, failure: SiteEntry['failure']): SiteEntry {
    const { tunnel, position, hasWeb, targets } = this.#tunnel
    const row = this.#context.store.add({ tunnel, position, hasWeb, targets, relay, site, failure })
    this.#rows.push(row)
    return row
  }

  #forget(row: SiteEntry): void {
    this.#rows = this.#rows.filter((each) => each !== row)
    this.#context.store.remove(row)
  }

  #failedLater(row: SiteEntry, site: PlatformSite, error: SvcError): void {
    // The state shows that it waits, but not for which limit of the relay.
    if (site.state === 'waiting') {
      if (error.code === 'rate_limited') this.complain(row.relay, error)
      return
    }
    if (site.state === 'closed' && this.#isNamed(row)) {
      const { code, message, exitCode } = explainError(error)
      row.failure = { code, message }
      this.#endsWith(site.url === '' ? exitCode : EXIT.ended)
    }
    this.complain(row.relay, error)
  }

  #endsWith(code: ExitCode): void {
    if (!this.#context.signal.aborted) this.#exitCode = code
  }

  #mayRepeat(what: string): boolean {
    const now = performance.now()
    if (now - (this.#saidAt.get(what) ?? Number.NEGATIVE_INFINITY) < REPEAT_PAUSE_MS) return false
    // One entry for each code and relay, which are few.
    this.#saidAt.set(what, now)
    return true
  }

  #say(report: DistributiveOmit<Report, 'tunnel'>): void {
    const { tell, begun, inspector } = this.#context
    const { tunnel } = this.#tunnel
    this.#told = this.#told.then(async () => {
      if (report.event === 'online' || report.event === 'waiting') await begun()
      // Each report has an address of its own, which signs in once.
      const page = report.event === 'online' ? inspector.url : undefined
      tell({ ...report, tunnel, ...(page !== undefined && { inspector: page }) } as Report)
    })
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
