// The limits of the overlay.

import type { OverlayLimits } from './settings.ts'

export const OVERLAY_LIMITS: OverlayLimits = {
  probes: { intervalMs: 15_000, failedMaxMs: 2 * 60_000, tickMs: 1_000, deadlineMs: 5_000 },
  gatewaySourceRate: { perMinute: 120, burst: 16 },
  hopVisitors: { max: 4096, perHolder: 256, perHolderWhenHalfFull: 16 },
  hopVisitorsPerNetwork: 64,
  hopChangesPerPeer: { perMinute: 12_000, burst: 3_000 },
  hopChangesPerOwner: { perMinute: 400, burst: 200 },
}

/** Share of the connections to the overlay server, bridges included, that one peer may have open. */
export const OVERLAY_PEER_SHARE: number = 1 / 4
/** The same once half of all are open: identities cost nothing, and a few of them must not take the other half, too. */
export const OVERLAY_PEER_CROWDED_SHARE: number = 1 / 32
/** Time after which a connection without a request is closed, in milliseconds. */
export const OVERLAY_IDLE_MS = 30_000
/**
 * Silence of a connection, bridges included, after which the kernel sends keep-alive probes, in milliseconds.
 * With Node's defaults it ends the connection after 10 unanswered probes, a second apart.
 */
export const OVERLAY_KEEP_ALIVE_MS = 30_000
/** Time for a TCP connection to a peer's overlay server, in milliseconds. */
export const OVERLAY_CONNECT_DEADLINE_MS = 5_000
/** Peers that the relay probes at once for gateways. */
export const GATEWAY_PROBES_PARALLEL_MAX = 8
/** Bytes of a peer's answer to a request. */
export const PEER_ANSWER_MAX_BYTES: number = 16 * 1024
/** Milliseconds for an answer to a hop route, and for a peer to accept a visitor or a connection. */
export const PEER_ANSWER_DEADLINE_MS = 10_000
/** Failed gateways that the relay remembers for each lease: it forgets the one that failed longest ago. */
export const FAILED_GATEWAYS_MAX = 16
/** Time for which a lease does not get a gateway again that it could not use, in milliseconds. */
export const FAILED_GATEWAY_MS: number = 5 * 60_000
/** Requests with a delegated capability from one source that are pending or bridged (docs/protocol.md §17.2.3). */
export const GATEWAY_SESSIONS_PER_SOURCE_MAX = 16
/** The same from all sources: each has a connection to an ingress relay (docs/protocol.md §17.2.3). */
export const GATEWAY_OUTBOUND_MAX = 128
/** The same for one ingress relay: half of all, so that a hostile one leaves room for the leases of others. */
export const GATEWAY_SESSIONS_PER_INGRESS_MAX = 64
