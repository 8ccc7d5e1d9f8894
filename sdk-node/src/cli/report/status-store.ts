// The status of this process: its sites, their figures and the last requests, for the live view and `svc status`.

import type { KnockingVisitor, PlatformSite } from '@svc/sdk-core'
import type { WebhookVerdict } from '@svc/sdk-core/webhooks'
import type {
  AgentFlow,
  AgentRequest,
  AgentWebhook,
  CopyStatus,
  DomainStatus,
  Failure,
  WaitingStatus,
} from '../../agent/api-messages.ts'
import type { ProbeVerdict } from '../../probe/self-probe.ts'
import { RecentErrors } from './recent-errors.ts'
import type {
  Addresses,
  FlowReport,
  HeldReport,
  KnockReport,
  SiteStatus,
  Targets,
  VisitorReport,
} from './report.ts'

/** The number of remembered requests, and of visits: more than a terminal has lines. */
export const REQUESTS_KEPT = 100
/** The visitor's status when the target does not answer (RFC 9110 §15.6.3). */
const BAD_GATEWAY = 502

/** A tunnel at one relay. */
export interface SiteEntry {
  /** The name of the tunnel, when it has one. */
  readonly tunnel: string | undefined
  /** Rows are shown in this order. */
  readonly position: number
  readonly relay: string
  /** The site; undefined when the attempt failed before there was one. */
  readonly site: PlatformSite | undefined
  /** True when the tunnel answers at its HTTPS URL, unlike one with only TCP or UDP. */
  readonly hasWeb: boolean
  readonly targets?: Targets | undefined
  /** The error that ended it. */
  failure: Failure | undefined
}

export class StatusStore {
  readonly recentErrors: RecentErrors = new RecentErrors()
  readonly #rows = new Set<SiteEntry>()
  /** The verdicts about each site: of its URL, which has no name here, and of its custom domains. */
  readonly #probes = new WeakMap<PlatformSite, Map<string | undefined, ProbeVerdict>>()
  readonly #requests: AgentRequest[] = []
  readonly #visits: VisitorReport[] = []
  readonly #onVisitor: ((report: VisitorReport) => void) | undefined
  /** The visitors who wait, with the name of their tunnel, oldest first. */
  readonly #knocks = new Map<KnockingVisitor, string | undefined>()

  /** @param onVisitor called with each request of a visitor, and each flow */
  constructor(onVisitor?: (report: VisitorReport) => void) {
    this.#onVisitor = onVisitor
  }

  add(row: SiteEntry): SiteEntry {
    this.#rows.add(row)
    return row
  }

  remove(row: SiteEntry): void {
    this.#rows.delete(row)
  }

  /** @returns the verdict of the last self-probe */
  verdictOf(site: PlatformSite, domain?: string): ProbeVerdict | undefined {
    return this.#probes.get(site)?.get(domain)
  }

  /** Stores a verdict, even of a site that is not listed yet or no longer. */
  probed(site: PlatformSite, verdict: ProbeVerdict, domain: string | undefined): void {
    const verdicts = this.#probes.get(site) ?? new Map()
    this.#probes.set(site, verdicts.set(domain, verdict))
  }

  requested(request: AgentRequest): void {
    if (request.status !== BAD_GATEWAY) this.recentErrors.answered(request.tunnel)
    keep(this.#requests, request)
    this.#visited({ event: 'request', ...request })
  }

  flowOpened(flow: Omit<FlowReport, 'event'>): void {
    this.#visited({ event: 'flow', ...flow })
  }

  #visited(report: VisitorReport): void {
    keep(this.#visits, report)
    this.#onVisitor?.(report)
  }

  /** The last requests and flows, oldest first. */
  get visits(): readonly VisitorReport[] {
    return this.#visits
  }

  /** The flows among them. */
  get flows(): AgentFlow[] {
    return this.#visits.flatMap((visit) => {
      if (visit.event !== 'flow') return []
      const { event: _event, ...flow } = visit
      return [flow]
    })
  }

  held(report: Omit<HeldReport, 'event'>): void {
    this.#onVisitor?.({ event: 'held', ...report })
  }

  /** The last requests, oldest first. */
  get requests(): readonly AgentRequest[] {
    return this.#requests
  }

  /** Lists a visitor who waits, until that is over. */
  knocked(tunnel: string | undefined, visitor: KnockingVisitor): void {
    if (visitor.ended.aborted) return
    this.#knocks.set(visitor, tunnel)
    visitor.ended.addEventListener('abort', () => this.#knocks.delete(visitor))
  }

  /** The visitors who wait, oldest first. */
  get knocks(): KnockingVisitor[] {
    return [...this.#knocks.keys()]
  }

  knockReports(): KnockReport[] {
    return [...this.#knocks].map(([visitor, tunnel]) => knockReport(tunnel, visitor, visitor.address))
  }

  /** Answers the visitor of this code. @returns false when not exactly one has it */
  answerKnock({ code, admit, always }: { code: string; admit: boolean; always: boolean }): boolean {
    const [visitor, ...others] = this.knocks.filter((visitor) => visitor.code === code)
    if (!visitor || others.length > 0) return false
    if (admit) visitor.admit({ always })
    else visitor.refuse({ always })
    return true
  }

  /** The sites that can be shared by links. */
  get shared(): SiteEntry[] {
    return this.#sorted().filter(({ site }) => site?.share !== undefined && site.state !== 'closed')
  }

  snapshot(): SiteStatus[] {
    return this.#sorted().map((row) => statusOf(row, row.site ? this.#probes.get(row.site) : undefined))
  }

  #sorted(): SiteEntry[] {
    return [...this.#rows].sort((one, other) => one.position - other.position)
  }
}

/** @returns the verdict about a webhook, as reports have it */
export function webhookReport({ ageSeconds, ...verdict }: WebhookVerdict): AgentWebhook {
  return { ...verdict, ...(ageSeconds !== undefined && { age_seconds: Math.round(ageSeconds) }) }
}

function keep<T>(last: T[], next: T): void {
  last.push(next)
  if (last.length > REQUESTS_KEPT) last.shift()
}

/** @param address as much of it as the report may have */
export function knockReport(
  tunnel: string | undefined,
  { code, browser, path, since }: KnockingVisitor,
  address: string | undefined,
): KnockReport {
  return { event: 'knock', tunnel, code, address, browser, path, since: new Date(since).toISOString() }
}

/** @returns the addresses of the row that the relay granted */
export function addressesOf({ site, hasWeb }: SiteEntry): Addresses {
  return {
    ...(hasWeb && {
      url: site?.url || undefined,
      canonical_url: site?.canonicalUrl || undefined,
      share_url: site?.shareUrl,
    }),
    tcp_address: site?.tcpAddress,
    udp_address: site?.udpAddress,
  }
}

export function waitingOf({ site }: SiteEntry): WaitingStatus | undefined {
  const waiting = site?.waiting
  if (!waiting) return undefined
  const { reason, until } = waiting
  return { reason, until: until === undefined ? undefined : new Date(until).toISOString() }
}

export function copyOf({ site }: SiteEntry): CopyStatus | undefined {
  const cache = site?.cache
  return cache && { present: cache.present, expires_at: cache.expires_at }
}

export function domainsOf(site: PlatformSite | undefined): DomainStatus[] | undefined {
  return site?.domains?.map(({ domain, dns, certificate, ...one }) => ({
    ...{ domain, online: one.online, state: dns.state, reason: dns.reason, records: dns.records },
    certificate: certificate.state,
    expires_at:
      certificate.expiresAt === undefined ? undefined : new Date(certificate.expiresAt).toISOString(),
    error: certificate.error,
    protected: one.protected,
    unprotected: one.unprotected,
  }))
}

function statusOf(
  row: SiteEntry,
  probes: ReadonlyMap<string | undefined, ProbeVerdict> | undefined,
): SiteStatus {
  const { tunnel, relay, site, failure, targets } = row
  const stats = site?.stats()
  const { rttMs, openStreams = 0, reconnects = 0, bytesIn = 0, bytesOut = 0 } = stats ?? {}
  return {
    tunnel,
    relay,
    ...addressesOf(row),
    targets,
    state: failure ? 'failed' : (site?.state ?? 'connecting'),
    waiting: waitingOf(row),
    failure,
    rtt_ms: rttMs === undefined ? undefined : Math.round(rttMs * 10) / 10,
    connections: openStreams,
    reconnects,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    probe: probes?.get(undefined),
    cache: copyOf(row),
    domains: domainsOf(site)?.map((status) => ({ ...status, probe: probes?.get(status.domain) })),
  }
}
