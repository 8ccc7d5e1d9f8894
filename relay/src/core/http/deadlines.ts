// Holds the deadlines of the HTTPS servers of the relay: its API, also in worker processes, and the static cache.

/** Time for a TLS handshake with the API, and for the head of each request. */
export const API_HEAD_DEADLINE_MS = 10_000
/** Interval at which the relay checks `API_HEAD_DEADLINE_MS`. */
export const API_DEADLINE_CHECK_MS = 2_000
/** Idle time of a kept-alive API connection: longer than the SDKs' gap between two signatures for one visitor. */
export const API_IDLE_MS = 60_000
