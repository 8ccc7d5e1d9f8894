// Holds the limits of the overlay.

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
/** The interval at which a relay asks each peer whether it is a gateway with room, in milliseconds. */
export const GATEWAY_PROBE_MS = 15_000
/** The longest time until it asks again a peer that did not answer, in milliseconds: the time doubles with each failure. */
export const GATEWAY_PROBE_FAILED_MAX_MS: number = 2 * 60_000
/** The interval at which it looks for peers that it has not asked yet, in milliseconds. */
export const GATEWAY_PROBE_TICK_MS = 1_000
/** Peers that it asks at once. */
export const GATEWAY_PROBES_PARALLEL_MAX = 8
/** Time for the answer of one peer, in milliseconds. */
export const GATEWAY_PROBE_DEADLINE_MS = 5_000
/** Bytes of a peer's answer to a request. */
export const PEER_ANSWER_MAX_BYTES: number = 16 * 1024
/** Milliseconds for an answer to a hop route, and for a peer to take a visitor or a connection. */
export const PEER_ANSWER_DEADLINE_MS = 10_000
/** Gateways of one lease that failed, of which the relay remembers this many: the one that failed longest ago is forgotten. */
export const FAILED_GATEWAYS_MAX = 16
/** Time for which a lease gets no gateway that it could not use, in milliseconds. */
export const FAILED_GATEWAY_MS: number = 5 * 60_000
/** Requests with a delegated capability from one source IP (docs/protocol.md §17.2.3). An IPv6 source is its /64. */
export const GATEWAY_SOURCE_RATE: { perMinute: number; burst: number } = { perMinute: 120, burst: 16 }
/** Such requests that are pending or bridged, from one source (docs/protocol.md §17.2.3). */
export const GATEWAY_SESSIONS_PER_SOURCE_MAX = 16
/** The same of all sources: each has a connection to an ingress relay (docs/protocol.md §17.2.3). */
export const GATEWAY_OUTBOUND_MAX = 128
/** The same of one ingress relay: half of them, so that a hostile one leaves room for the leases of others. */
export const GATEWAY_SESSIONS_PER_INGRESS_MAX = 64
/** Time until an ingress relay has taken a session, in milliseconds. */
export const GATEWAY_CARRY_DEADLINE_MS = 10_000
