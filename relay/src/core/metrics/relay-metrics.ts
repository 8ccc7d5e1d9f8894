// The metrics that every relay has: its connections, visitors, certificates, files and API.

import type { LabeledCount, Metrics } from './metrics.ts'
import type { RelayCounters } from './relay-counters.ts'

const MS_PER_S = 1_000

/** Figures of the relay, read at every scrape. */
export interface RelayFigures {
  /** Connections to this process that have sent no ClientHello yet. */
  silentConnections(): number
  leases(): number
  readySessions(): number
  visitors(): number
  /** Bytes, both ways, since the relay started. */
  traffic(): { fromVisitors: number; toVisitors: number }
  /** Files that could not be written the last time. */
  unwritableFiles(): number
  /** Failed writes since the relay started. */
  writeFailures(): number
  /** For each kind of host, the milliseconds until its first certificate ends, by the wall clock. */
  certificateExpiries(): { kind: string; remainingMs: number }[]
  /** The outcomes of orders of certificates by ACME. */
  acmeOrders: Iterable<LabeledCount<'host_kind' | 'result'>>
}

export function registerRelayMetrics(metrics: Metrics, counters: RelayCounters, figures: RelayFigures): void {
  registerConnections(metrics, counters, figures)
  registerVisitors(metrics, counters)
  registerState(metrics, figures)
  registerApi(metrics, counters)
}

function registerConnections(metrics: Metrics, counters: RelayCounters, figures: RelayFigures): void {
  metrics.gauge(
    'silent_connections',
    'Open connections that have sent no server name yet.',
    () => figures.silentConnections() + counters.silentInPeers,
  )
  metrics.labeledCounter(
    'connections_refused_total',
    'Connections that the relay closed before they sent a server name.',
    ['reason'],
    counters.connectionsRefused,
  )
  metrics.gauge('leases', 'Active leases.', () => figures.leases())
  metrics.gauge('ready_sessions', 'Ready sessions: reverse sessions that wait for a visitor.', () =>
    figures.readySessions(),
  )
  metrics.gauge('carriers', 'Open carriers: WebSockets and native sessions of SDKs.', () => counters.carriers)
  metrics.labeledCounter(
    'memory_relieved_total',
    'Times that WebSockets exceeded a memory limit, so that the relay reset their largest streams.',
    ['bound'],
    counters.memoryRelieved,
  )
  metrics.gauge('visitor_connections', 'Open connections of visitors.', () => figures.visitors())
  metrics.counter(
    'visitor_received_bytes_total',
    'Bytes that visitors sent.',
    () => figures.traffic().fromVisitors,
  )
  metrics.counter(
    'visitor_sent_bytes_total',
    'Bytes that the relay sent to visitors.',
    () => figures.traffic().toVisitors,
  )
}

function registerVisitors(metrics: Metrics, counters: RelayCounters): void {
  metrics.counter(
    'claims_waited_total',
    'Visitors who had to wait, since no session was ready.',
    () => counters.claimsWaited,
  )
  metrics.counter('claims_failed_total', 'Visitors who got no session in time.', () => counters.claimsFailed)
  metrics.counter(
    'activations_total',
    'Sessions that the relay activated for a visitor.',
    () => counters.activations,
  )
  metrics.counter(
    'visitors_displaced_total',
    'Visitors closed because another one had to wait, while their network had more than its share of a site.',
    () => counters.visitorsDisplaced,
  )
  metrics.counter(
    'sessions_lost_total',
    'Sessions that broke before they answered the ClientHello.',
    () => counters.sessionsLost,
  )
}

function registerState(metrics: Metrics, figures: RelayFigures): void {
  metrics.labeledGauge(
    'certificate_expiry_seconds',
    'Seconds until the first certificate of these hosts ends; below 0: it has ended.',
    ['host_kind'],
    () =>
      figures
        .certificateExpiries()
        .map(({ kind, remainingMs }) => ({ labels: { host_kind: kind }, count: remainingMs / MS_PER_S })),
  )
  metrics.labeledCounter(
    'acme_orders_total',
    'Orders of certificates by ACME.',
    ['host_kind', 'result'],
    figures.acmeOrders,
  )
  metrics.gauge('unwritable_files', 'State files whose last write failed.', () => figures.unwritableFiles())
  metrics.counter('write_failures_total', 'Writes of state files that failed.', () => figures.writeFailures())
}

function registerApi(metrics: Metrics, counters: RelayCounters): void {
  metrics.labeledCounter(
    'sign_requests_total',
    'Requests for a keyless signature.',
    ['outcome'],
    counters.signatures,
  )
  metrics.labeledCounter(
    'api_requests_total',
    'API requests by route and HTTP status.',
    ['route', 'status'],
    counters.requests,
  )
  metrics.labeledCounter(
    'api_refusals_total',
    'API error responses by error code.',
    ['code'],
    counters.refusals,
  )
  metrics.recordCounter(
    'go_visits_total',
    'Visitors of /go/: led to this relay, elsewhere, nowhere, or put off since too many came.',
    'outcome',
    () => counters.goVisits,
  )
}
