// The metrics of UDP ports, and of the datagram tunnels behind them.

import type { Metrics } from '../../core/metrics/metrics.ts'
import type { RelayCounters } from '../../core/metrics/relay-counters.ts'

interface EndpointFigures {
  readonly isUp: boolean
  /** The number of times that the QUIC process ended by itself. */
  readonly failures: number
}

export function registerDatagramMetrics(metrics: Metrics, counters: RelayCounters): void {
  metrics.gauge('datagram_tunnels', 'Open datagram tunnels.', () => counters.tunnels)
  metrics.gauge(
    'datagram_flows',
    'Flows: addresses of visitors that UDP ports remember.',
    () => counters.flows,
  )
  metrics.counter(
    'datagrams_received_total',
    'Datagrams of visitors that the relay passed on.',
    () => counters.datagramsIn,
  )
  metrics.counter(
    'datagrams_sent_total',
    'Datagrams that the relay sent to visitors.',
    () => counters.datagramsOut,
  )
  metrics.labeledCounter(
    'datagrams_dropped_total',
    'Datagrams that the relay dropped.',
    ['reason'],
    counters.datagramsDropped,
  )
}

/** Where the relay has UDP ports. */
export function registerEndpointMetrics(metrics: Metrics, endpoint: EndpointFigures): void {
  metrics.gauge('datagram_endpoint_up', 'Whether the relay accepts datagram tunnels: 1 or 0.', () =>
    endpoint.isUp ? 1 : 0,
  )
  metrics.counter(
    'datagram_endpoint_failures_total',
    'Times that the QUIC process ended unexpectedly.',
    () => endpoint.failures,
  )
}
