// Exposes the relay's metrics by the conventions of Prometheus. Each is read when it is scraped; no label names a tenant.
// The only importer of prom-client.

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { MACHINE_STATES, type MachineReading } from './cluster-readings.ts'
import type { GatewayReadings, LabeledCount, Readings } from './readings.ts'
import type { RelayCounters } from './relay-counters.ts'

const MS_PER_S = 1_000

/** The response to a scrape. */
export interface Exposition {
  contentType: string
  text(): Promise<string>
}

export function createExposition(counters: RelayCounters, readings: Readings): Exposition {
  const { tunnelEndpoint, dns, staticCache, payments, discovery, overlayLink, overlay, hops, cluster } =
    readings
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
    counts: Iterable<LabeledCount<Label>>,
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

  const recordCounters = (
    name: string,
    help: string,
    label: string,
    read: () => Readonly<Record<string, number>>,
  ): void => {
    new Counter({
      name: `svc_relay_${name}`,
      help,
      labelNames: [label],
      registers: [registry],
      collect() {
        this.reset()
        for (const [value, count] of Object.entries(read())) this.inc({ [label]: value }, count)
      },
    })
  }

  const labeledGauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => Iterable<LabeledCount<Label>>,
  ): void => {
    new Gauge({
      name: `svc_relay_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        for (const { labels, count } of read()) this.set(labels, count)
      },
    })
  }

  gauge(
    'silent_connections',
    'Open connections that have sent no server name yet.',
    () => readings.silentConnections() + counters.silentInPeers,
  )
  labeledCounters(
    'connections_refused_total',
    'Connections that the relay closed before they sent a server name.',
    ['reason'],
    counters.connectionsRefused,
  )
  gauge('leases', 'Active leases.', () => readings.leases())
  gauge('ready_sessions', 'Ready sessions: reverse sessions that wait for a visitor.', () =>
    readings.readySessions(),
  )
  gauge('carriers', 'Open carriers: WebSockets and native sessions of SDKs.', () => counters.carriers)
  labeledCounters(
    'memory_relieved_total',
    'Times that WebSockets exceeded a memory limit, so that the relay reset their largest streams.',
    ['bound'],
    counters.memoryRelieved,
  )
  gauge('visitor_connections', 'Open connections of visitors.', () => readings.visitors())
  counter('visitor_received_bytes_total', 'Bytes that visitors sent.', () => readings.traffic().fromVisitors)
  counter(
    'visitor_sent_bytes_total',
    'Bytes that the relay sent to visitors.',
    () => readings.traffic().toVisitors,
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
  if (dns) {
    new Counter({
      name: 'svc_relay_dns_queries_total',
      help: 'Queries to the DNS server, by what became of them.',
      labelNames: ['result'],
      registers: [registry],
      collect() {
        this.reset()
        for (const [result, count] of Object.entries(dns.counts.queries)) this.inc({ result }, count)
      },
    })
    counter('dns_tcp_queries_total', 'Queries to the DNS server over TCP.', () => dns.counts.overTcp)
    gauge('dns_connections', 'Open TCP connections of the DNS server.', () => dns.counts.connections)
  }
  if (staticCache) {
    gauge('cache_snapshots', 'Sites whose files the static cache stores.', () => staticCache.snapshots())
    gauge('cache_used_bytes', 'Bytes of the disk that the static cache uses, uploads included.', () =>
      staticCache.usedBytes(),
    )
    gauge('cache_connections', 'Open connections of visitors of sites with stored files.', () =>
      staticCache.connections(),
    )
    counter('cache_sent_bytes_total', 'Bytes of stored files that the relay sent to visitors.', () =>
      staticCache.sentBytes(),
    )
    labeledCounters(
      'cache_uploads_total',
      'Uploads to the static cache, by how they ended.',
      ['result'],
      staticCache.uploads,
    )
    labeledCounters(
      'cache_requests_total',
      'Requests of visitors of sites with stored files: answered from these, by the live site, or with the site away.',
      ['result'],
      staticCache.requests,
    )
  }
  if (payments) {
    labeledCounters(
      'payment_requests_total',
      'Requests to the payment facilitator: accepted, refused for what the payment is, or failed.',
      ['question', 'result'],
      payments.requests,
    )
    counter('payments_settled_total', 'Payments that the facilitator carried out.', () => payments.settled())
  }
  if (discovery) {
    gauge('discovery_relays_known', 'Relays that discovery knows.', () => discovery().known)
    gauge('discovery_relays', 'Relays that discovery passes on: they answer.', () => discovery().current)
    gauge(
      'discovery_relays_waiting',
      'Relays that somebody named and discovery has still to look at.',
      () => discovery().waiting,
    )
    recordCounters(
      'discovery_refusals_total',
      'Relays that discovery refused, or that did not answer it, by the reason.',
      'reason',
      () => discovery().refusals,
    )
    recordCounters(
      'go_visits_total',
      'Visitors of /go/: led to this relay, elsewhere, nowhere, or put off since the relay was busy.',
      'outcome',
      () => discovery().visits,
    )
  }
  if (overlay) {
    gauge('overlay_peers', 'Relays that are peers on the overlay.', () => overlay().peers)
    gauge(
      'overlay_connections',
      'Open connections of peers to the overlay server.',
      () => overlay().connections,
    )
    recordCounters(
      'overlay_refused_total',
      'Connections that the overlay server closed, by the reason.',
      'reason',
      () => overlay().refused,
    )
    if (overlay().gateways) {
      const gateways = (): GatewayReadings => overlay().gateways!
      gauge(
        'gateways_available',
        'Peers that carry reverse sessions for this relay.',
        () => gateways().available,
      )
      gauge('gateway_sessions', 'Sessions that this relay carries for others.', () => gateways().sessions)
      recordCounters(
        'gateway_requests_total',
        'Requests with a delegated capability at this gateway, by what became of them.',
        'result',
        () => gateways().requests,
      )
    }
  }
  if (overlayLink) {
    gauge('overlay_up', 'Whether the overlay can carry packets (1).', () => Number(overlayLink().isUp))
    gauge('overlay_peers_connected', 'Peers with a session.', () => overlayLink().connected)
    gauge(
      'overlay_handshake_age_seconds',
      'Seconds since the newest handshake with a peer; NaN before the first one.',
      () => (overlayLink().handshakeAgeMs ?? Number.NaN) / MS_PER_S,
    )
    counter(
      'overlay_received_bytes_total',
      'Bytes that peers sent over the overlay.',
      () => overlayLink().receivedBytes,
    )
    counter('overlay_sent_bytes_total', 'Bytes that the relay sent to peers.', () => overlayLink().sentBytes)
    counter(
      'overlay_restarts_total',
      'Times that the relay tried to make the interface of the overlay again.',
      () => overlayLink().restarts,
    )
  }
  if (hops) {
    gauge('hop_routes', 'Hop routes of this relay, and tokens that end here.', () => hops.routes())
    gauge('hop_visitors', 'Visitors whom this relay passes on along a route.', () => hops.visitors())
    gauge('hop_connections', 'Connections of sites through this relay to its neighbours.', () =>
      hops.connections(),
    )
    labeledCounters(
      'hop_refusals_total',
      'Hop routes that were refused, by the reason.',
      ['reason'],
      hops.refusals,
    )
    labeledCounters(
      'hop_visitors_total',
      'Visitors on hop routes: passed on, arrived at the last relay, or refused.',
      ['result'],
      hops.results,
    )
  }
  if (cluster) {
    // One that is gone has no figures any more.
    const ofEach = (read: (machine: MachineReading) => number): LabeledCount<'machine'>[] =>
      cluster
        .machines()
        .filter(({ state }) => state !== 'gone')
        .map((machine) => ({ labels: { machine: machine.address }, count: read(machine) }))
    gauge('cluster_engine_up', 'Whether the engine of the cluster answers: 1 or 0.', () =>
      Number(cluster.isEngineUp),
    )
    labeledGauge('cluster_machines', 'Machines of the relay, by their state.', ['state'], () => {
      const machines = cluster.machines()
      return MACHINE_STATES.map((state) => ({
        labels: { state },
        count: machines.filter((machine) => machine.state === state).length,
      }))
    })
    labeledGauge(
      'cluster_machine_visitors',
      'Open connections of visitors at each machine of the relay, as this machine knows them.',
      ['machine'],
      () => ofEach(({ visitors }) => visitors),
    )
    labeledGauge(
      'cluster_machine_carriers',
      'Open carriers at each machine of the relay, as this machine knows them.',
      ['machine'],
      () => ofEach(({ carriers }) => carriers),
    )
    recordCounters(
      'cluster_handovers_total',
      'Visitors that this machine handed over to another one, that it took from another one, or that none took.',
      'direction',
      () => {
        const { handedOut, handedIn, handOversFailed } = cluster.counts
        return { out: handedOut, in: handedIn, failed: handOversFailed }
      },
    )
    counter(
      'cluster_engine_operations_total',
      'Operations of the engine that this machine asked for.',
      () => cluster.counts.engineOperations,
    )
    counter(
      'cluster_engine_failures_total',
      'Operations of the engine that failed.',
      () => cluster.counts.engineFailures,
    )
    counter(
      'cluster_resyncs_total',
      'Times that this machine read the whole shared state again.',
      () => cluster.counts.resyncs,
    )
    counter(
      'cluster_changes_total',
      'Changes of the shared state that this machine followed.',
      () => cluster.counts.changes,
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
  new Gauge({
    name: 'svc_relay_certificate_expiry_seconds',
    help: 'Seconds until the first certificate of these hosts ends; below 0: it has ended.',
    labelNames: ['host_kind'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { kind, remainingMs } of readings.certificateExpiries())
        this.set({ host_kind: kind }, remainingMs / MS_PER_S)
    },
  })
  labeledCounters(
    'acme_orders_total',
    'Orders of certificates by ACME.',
    ['host_kind', 'result'],
    readings.acmeOrders,
  )
  gauge('unwritable_files', 'State files whose last write failed.', () => readings.unwritableFiles())
  counter('write_failures_total', 'Writes of state files that failed.', () => readings.writeFailures())
  labeledCounters('api_refusals_total', 'API error responses by error code.', ['code'], counters.refusals)
  return { contentType: registry.contentType, text: () => registry.metrics() }
}
