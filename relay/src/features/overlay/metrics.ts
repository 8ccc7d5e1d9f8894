// The metrics of the overlay: its server, its gateways, and its WireGuard link.

import type { Metrics } from '../../core/metrics/metrics.ts'

const MS_PER_S = 1_000

/** Figures of the overlay server, read at every scrape. */
interface OverlayFigures {
  /** Relays that may connect. */
  peers: number
  /** Open connections of peers. */
  connections: number
  /** Connections that the overlay server closed, by reason. */
  refused: Readonly<Record<string, number>>
}

/** Figures of gateways, read at every scrape. */
export interface GatewayFigures {
  /** Peers that carry sessions. */
  available: number
  /** Sessions that this relay carries for others. */
  sessions: number
  /** Requests at this gateway, by outcome. */
  requests: Readonly<Record<string, number>>
}

/** Figures of the link, read at every scrape. */
interface LinkFigures {
  isUp: boolean
  connected: number
  /** Milliseconds; undefined without a handshake. */
  handshakeAgeMs: number | undefined
  receivedBytes: number
  sentBytes: number
  restarts: number
}

export function registerOverlayMetrics(metrics: Metrics, overlay: () => OverlayFigures): void {
  metrics.gauge('overlay_peers', 'Relays that are peers on the overlay.', () => overlay().peers)
  metrics.gauge(
    'overlay_connections',
    'Open connections of peers to the overlay server.',
    () => overlay().connections,
  )
  metrics.recordCounter(
    'overlay_refused_total',
    'Connections that the overlay server closed, by the reason.',
    'reason',
    () => overlay().refused,
  )
}

export function registerGatewayMetrics(metrics: Metrics, gateways: () => GatewayFigures): void {
  metrics.gauge(
    'gateways_available',
    'Peers that carry reverse sessions for this relay.',
    () => gateways().available,
  )
  metrics.gauge('gateway_sessions', 'Sessions that this relay carries for others.', () => gateways().sessions)
  metrics.recordCounter(
    'gateway_requests_total',
    'Requests with a delegated capability at this gateway, by what became of them.',
    'result',
    () => gateways().requests,
  )
}

export function registerLinkMetrics(metrics: Metrics, link: () => LinkFigures): void {
  metrics.gauge('overlay_up', 'Whether the overlay can carry packets (1).', () => Number(link().isUp))
  metrics.gauge('overlay_peers_connected', 'Peers with a session.', () => link().connected)
  metrics.gauge(
    'overlay_handshake_age_seconds',
    'Seconds since the newest handshake with a peer; NaN before the first one.',
    () => (link().handshakeAgeMs ?? Number.NaN) / MS_PER_S,
  )
  metrics.counter(
    'overlay_received_bytes_total',
    'Bytes that peers sent over the overlay.',
    () => link().receivedBytes,
  )
  metrics.counter('overlay_sent_bytes_total', 'Bytes that the relay sent to peers.', () => link().sentBytes)
  metrics.counter(
    'overlay_restarts_total',
    'Times that the relay tried to make the interface of the overlay again.',
    () => link().restarts,
  )
}
