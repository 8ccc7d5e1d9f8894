// The self-probe: a site visits itself, and compares what both ends of that connection export (RFC 8446 §7.5).

/** What is exported, without a context (RFC 5705 §4), … */
export const PROBE_LABEL = 'Svc-MITM-Probe-v1'
/** … and how much of it. */
export const PROBE_MATERIAL_BYTES = 32
/** What a probe sends first: a nonce, which only the site itself can recognize, … */
export const PROBE_NONCE_BYTES = 16
/** … and padding of any length between these, so that its size tells nothing. */
export const PROBE_PADDING_MIN_BYTES = 96
/** A self-probe has so much random padding behind its nonce at most. */
export const PROBE_PADDING_MAX_BYTES = 320
/** From its first packet to its verdict; without one by then a probe has failed. */
export const PROBE_DEADLINE_MS = 5_000
/** How long a connection may keep its first bytes back while a probe is awaited. */
export const PROBE_PEEK_MS = 100
/** A site probes itself no more often than this. */
export const PROBE_COOLDOWN_MS = 30_000
