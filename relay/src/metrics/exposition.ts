// Every metric of the relay, by the conventions of Prometheus, each read at the moment it is asked for. No label tells of
// a tenant. The only importer of prom-client.

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

/** What a scrape is answered with. */
export interface Exposition {
  contentType: string
  text(): Promise<string>
}

export function createExposition(scraped: Scraped): Exposition {
  const { counters, visitors, leases, connectionLimiter, state, tunnelEndpoint } = scraped
  const registry = new Registry()
  // The process and its event loop, under the names that dashboards know.
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
    'Open connections that have not said whom they want.',
    () => connectionLimiter.silent + counters.silentElsewhere,
  )
  labeledCounters(
    'connections_refused_total',
    'Connections that were turned away before they said whom they want.',
    ['reason'],
    counters.connectionsRefused,
  )
  gauge('leases', 'Active leases.', () => leases.size)
  gauge('ready_sessions', 'Reverse sessions that wait for a visitor.', () => leases.readySessions)
  gauge('carriers', 'Open WebSockets and native sessions of tenants.', () => counters.carriers)
  labeledCounters(
    'memory_relieved_total',
    'Times that WebSockets held more than they may, so that their largest streams were reset.',
    ['bound'],
    counters.memoryRelieved,
  )
  gauge('visitor_connections', 'Open connections of visitors.', () => visitors.size)
  counter(
    'visitor_received_bytes_total',
    'Bytes that came from visitors.',
    () => visitors.traffic.fromVisitors,
  )
  counter('visitor_sent_bytes_total', 'Bytes that were sent to visitors.', () => visitors.traffic.toVisitors)
  counter('claims_waited_total', 'Visitors for whom no session was ready.', () => counters.claimsWaited)
  counter('claims_failed_total', 'Visitors who got no session in time.', () => counters.claimsFailed)
  counter('activations_total', 'Sessions that were given to a visitor.', () => counters.activations)
  counter(
    'visitors_displaced_total',
    'Visitors of a source with more than its share of a site, closed because another visitor had to wait.',
    () => counters.visitorsDisplaced,
  )
  counter(
    'sessions_lost_total',
    'Sessions that broke before they answered their visitor.',
    () => counters.sessionsLost,
  )
  gauge('datagram_tunnels', 'Tunnels of leases with a UDP port.', () => counters.tunnels)
  if (tunnelEndpoint) {
    gauge('datagram_endpoint_up', 'Whether datagram tunnels can come in: 1, or 0.', () =>
      tunnelEndpoint.isUp ? 1 : 0,
    )
    counter(
      'datagram_endpoint_failures_total',
      'Ends of the QUIC process that nobody asked for.',
      () => tunnelEndpoint.failures,
    )
  }
  gauge('datagram_flows', 'Addresses that UDP ports keep in mind.', () => counters.flows)
  counter(
    'datagrams_received_total',
    'Datagrams of visitors that were passed on.',
    () => counters.datagramsIn,
  )
  counter('datagrams_sent_total', 'Datagrams that were sent to visitors.', () => counters.datagramsOut)
  labeledCounters(
    'datagrams_dropped_total',
    'Datagrams that were not passed on.',
    ['reason'],
    counters.datagramsDropped,
  )
  labeledCounters('sign_requests_total', 'Requests for a signature.', ['outcome'], counters.signatures)
  labeledCounters(
    'api_requests_total',
    'API requests by route and HTTP status.',
    ['route', 'status'],
    counters.requests,
  )
  gauge(
    'unwritable_files',
    'Files that the relay keeps and could not write the last time.',
    () => state.failing.length,
  )
  counter('write_failures_total', 'Writes of such files that failed.', () => state.failures)
  labeledCounters(
    'api_refusals_total',
    'API answers that are errors, by their code.',
    ['code'],
    counters.refusals,
  )
  return { contentType: registry.contentType, text: () => registry.metrics() }
}
