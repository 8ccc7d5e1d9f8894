// Exposes the relay's metrics by the conventions of Prometheus. Each is read when it is scraped; no label names a tenant.
// The only importer of prom-client.

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Visitors } from '../bridge/visitors.ts'
import type { DatagramEndpoint } from '../datagram/quic-endpoint.ts'
import type { ConnectionLimiter } from '../ingress/connection-limiter.ts'
import type { LeaseRegistry } from '../lease/lease-registry.ts'
import type { WriteHealth } from '../storage/write-health.ts'
import type { LabeledCounter, RelayCounters } from './relay-counters.ts'

export interface Measured {
  counters: RelayCounters
  visitors: Visitors
  leases: LeaseRegistry
}

export interface Scraped extends Measured {
  connectionLimiter: ConnectionLimiter
  state: WriteHealth
  /** Undefined where UDP ports are off. */
  tunnelEndpoint: DatagramEndpoint | undefined
}

/** The response to a scrape. */
export interface Exposition {
  contentType: string
  text(): Promise<string>
}

export function createExposition(scraped: Scraped): Exposition {
  const { counters, visitors, leases, connectionLimiter, state, tunnelEndpoint } = scraped
  const registry = new Registry()
  // Metrics of the process and its event loop, under the names that dashboards know.
  collectDefaultMetrics({ register: registry })
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name: `svc_relay_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }
  const counter = (name: string, help: string, read: () => number): void => {
    new Counter({
      name: `svc_relay_${name}`,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }
  const labeledCounters = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    counts: LabeledCounter<Record<Label, string>>,
  ): void => {
    new Counter({
      name: `svc_relay_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        for (const { labels, count } of counts) this.inc(labels, count)
      },
    })
  }

  gauge(
    'silent_connections',
    'Open connections that have sent no server name yet.',
    () => connectionLimiter.silent + counters.silentInPeers,
  )
  labeledCounters(
    'connections_refused_total',
    'Connections that the relay closed before they sent a server name.',
    ['reason'],
    counters.connectionsRefused,
  )
  gauge('leases', 'Active leases.', () => leases.size)
  gauge(
    'ready_sessions',
    'Ready sessions: reverse sessions that wait for a visitor.',
    () => leases.readySessions,
  )
  gauge('carriers', 'Open carriers: WebSockets and native sessions of SDKs.', () => counters.carriers)
  labeledCounters(
    'memory_relieved_total',
    'Times that WebSockets exceeded a memory limit, so that the relay reset their largest streams.',
    ['bound'],
    counters.memoryRelieved,
  )
  gauge('visitor_connections', 'Open connections of visitors.', () => visitors.size)
  counter('visitor_received_bytes_total', 'Bytes that visitors sent.', () => visitors.traffic.fromVisitors)
  counter(
    'visitor_sent_bytes_total',
    'Bytes that the relay sent to visitors.',
    () => visitors.traffic.toVisitors,
  )
  counter(
    'claims_waited_total',
    'Visitors who had to wait, since no session was ready.',
    () => counters.claimsWaited,
  )
  counter('claims_failed_total', 'Visitors who got no session in time.', () => counters.claimsFailed)
  counter('activations_total', 'Sessions that the relay activated for a visitor.', () => counters.activations)
  counter(
    'visitors_displaced_total',
    'Visitors closed because another one had to wait, while their network had more than its share of a site.',
    () => counters.visitorsDisplaced,
  )
  counter(
    'sessions_lost_total',
    'Sessions that broke before they answered the ClientHello.',
    () => counters.sessionsLost,
  )
  gauge('datagram_tunnels', 'Open datagram tunnels.', () => counters.tunnels)
  if (tunnelEndpoint) {
    gauge('datagram_endpoint_up', 'Whether the relay accepts datagram tunnels: 1 or 0.', () =>
      tunnelEndpoint.isUp ? 1 : 0,
    )
    counter(
      'datagram_endpoint_failures_total',
      'Times that the QUIC process ended unexpectedly.',
      () => tunnelEndpoint.failures,
    )
  }
  gauge('datagram_flows', 'Flows: addresses of visitors that UDP ports remember.', () => counters.flows)
  counter(
    'datagrams_received_total',
    'Datagrams of visitors that the relay passed on.',
    () => counters.datagramsIn,
  )
  counter('datagrams_sent_total', 'Datagrams that the relay sent to visitors.', () => counters.datagramsOut)
  labeledCounters(
    'datagrams_dropped_total',
    'Datagrams that the relay dropped.',
    ['reason'],
    counters.datagramsDropped,
  )
  labeledCounters(
    'sign_requests_total',
    'Requests for a keyless signature.',
    ['outcome'],
    counters.signatures,
  )
  labeledCounters(
    'api_requests_total',
    'API requests by route and HTTP status.',
    ['route', 'status'],
    counters.requests,
  )
  gauge('unwritable_files', 'State files whose last write failed.', () => state.failing.length)
  counter('write_failures_total', 'Writes of state files that failed.', () => state.failures)
  labeledCounters('api_refusals_total', 'API error responses by error code.', ['code'], counters.refusals)
  return { contentType: registry.contentType, text: () => registry.metrics() }
}
