// Holds the limits of the overlay.

import type { OverlayLimits } from './settings.ts'

export const OVERLAY_LIMITS: OverlayLimits = {
  probes: { intervalMs: 15_000, failedMaxMs: 2 * 60_000, tickMs: 1_000, deadlineMs: 5_000 },
  gatewaySourceRate: { perMinute: 120, burst: 16 },
  hopVisitors: { max: 4096, perHolder: 256, perHolderWhenHalfFull: 16 },
  hopVisitorsPerNetwork: 64,
  hopChangesPerPeer: { perMinute: 12_000, burst: 3_000 },
  hopChangesPerOwner: { perMinute: 400, burst: 200 },
}

/** Share of the connections to the overlay server, those that became bridges included, that one peer may have open. */
export const OVERLAY_PEER_SHARE: number = 1 / 4
/** The same once half of all are open: identities cost nothing, and few of them must not take the other half, too. */
export const OVERLAY_PEER_CROWDED_SHARE: number = 1 / 32
/** Time after which a connection without a request is closed, in milliseconds. */
export const OVERLAY_IDLE_MS = 30_000
/**
 * Silence of a connection, also of a bridge, after which the kernel asks whether the other side is there, in milliseconds.
 * By Node's numbers it ends the connection after 10 questions, a second apart, without an answer.
 */
export const OVERLAY_KEEP_ALIVE_MS = 30_000
/** Time for a TCP connection to a peer's overlay server, in milliseconds. */
export const OVERLAY_CONNECT_DEADLINE_MS = 5_000
/** Peers that the relay asks at once whether they are gateways. */
export const GATEWAY_PROBES_PARALLEL_MAX = 8
/** Bytes of a peer's answer to a request. */
export const PEER_ANSWER_MAX_BYTES: number = 16 * 1024
/** Milliseconds for an answer to a hop route, and for a peer to take a visitor or a connection. */
export const PEER_ANSWER_DEADLINE_MS = 10_000
/** Gateways of one lease that failed, of which the relay remembers this many: the one that failed longest ago is forgotten. */
export const FAILED_GATEWAYS_MAX = 16
/** Time for which a lease gets no gateway that it could not use, in milliseconds. */
export const FAILED_GATEWAY_MS: number = 5 * 60_000
/** Requests with a delegated capability that are pending or bridged, from one source (docs/protocol.md §17.2.3). */
export const GATEWAY_SESSIONS_PER_SOURCE_MAX = 16
/** The same of all sources: each has a connection to an ingress relay (docs/protocol.md §17.2.3). */
export const GATEWAY_OUTBOUND_MAX = 128
/** The same of one ingress relay: half of them, so that a hostile one leaves room for the leases of others. */
export const GATEWAY_SESSIONS_PER_INGRESS_MAX = 64
