// Defines what each part of the relay lets the exposition read at every scrape.

import type { ClusterReadings } from './cluster-readings.ts'

/** Readings of the parts of the relay; the exposition calls each at every scrape. */
export interface Readings {
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
  /** Undefined where the relay has no DNS server. */
  dns: DnsReadings | undefined
  /** Undefined where the static cache is off. */
  staticCache: StaticCacheReadings | undefined
  /** Undefined where payments are off. */
  payments?: PaymentReadings | undefined
  /** Undefined where discovery is off. */
  discovery?: (() => DiscoveryReadings) | undefined
  /** Undefined where the relay makes no overlay. */
  overlayLink?: (() => OverlayLinkReadings) | undefined
  /** Undefined where the overlay is off. */
  overlay?: (() => OverlayReadings) | undefined
  /** Undefined where the relay is on no overlay. */
  hops?: HopReadings | undefined
  /** Undefined where the relay runs on one machine. */
  cluster?: ClusterReadings | undefined
  /** Undefined where UDP ports are off. */
  tunnelEndpoint: TunnelEndpointReadings | undefined
}

interface DnsReadings {
  readonly counts: {
    /** By what became of them. */
    queries: Readonly<Record<string, number>>
    overTcp: number
    connections: number
  }
}

interface PaymentReadings {
  requests: Iterable<LabeledCount<'question' | 'result'>>
  /** Payments that were carried out since the relay started. */
  settled(): number
}

interface StaticCacheReadings {
  snapshots(): number
  /** Bytes of the disk. */
  usedBytes(): number
  /** Open connections of visitors whose TLS the relay ends. */
  connections(): number
  /** Bytes of stored files since the relay started. */
  sentBytes(): number
  uploads: Iterable<LabeledCount<'result'>>
  requests: Iterable<LabeledCount<'result'>>
}

interface OverlayLinkReadings {
  isUp: boolean
  peers: number
  connected: number
  /** Milliseconds; undefined: there was no handshake. */
  handshakeAgeMs: number | undefined
  receivedBytes: number
  sentBytes: number
  restarts: number
}

interface DiscoveryReadings {
  /** Relays that are known, those of them that are passed on, and those that wait to be looked at. */
  known: number
  current: number
  waiting: number
  /** By the reason. */
  refusals: Readonly<Record<string, number>>
  /** Visitors of `/go/`, by where they were led. */
  visits: Readonly<Record<string, number>>
}

interface OverlayReadings {
  /** Relays that may connect. */
  peers: number
  connections: number
  /** Connections that the overlay server closed, by the reason. */
  refused: Readonly<Record<string, number>>
  /** Undefined where gateways are off. */
  gateways: GatewayReadings | undefined
}

export interface GatewayReadings {
  /** Peers that carry sessions. */
  available: number
  /** Sessions that this relay carries for others. */
  sessions: number
  /** By what became of them. */
  requests: Readonly<Record<string, number>>
}

interface HopReadings {
  /** Routes, visitors who are passed on, and connections of sites to neighbours. */
  routes(): number
  visitors(): number
  connections(): number
  refusals: Iterable<LabeledCount<'reason'>>
  results: Iterable<LabeledCount<'result'>>
}

interface TunnelEndpointReadings {
  readonly isUp: boolean
  /** The number of times that the QUIC process ended by itself. */
  readonly failures: number
}

export interface LabeledCount<Label extends string> {
  labels: Readonly<Record<Label, string>>
  count: number
}
