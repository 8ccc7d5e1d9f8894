// The self-probe: a site visits itself, and compares both ends' exported keying material (RFC 8446 §7.5).

/** Both ends of a probe export keying material with this label, without a context (RFC 5705 §4). */
export const PROBE_LABEL = 'Svc-MITM-Probe-v1'
/** Both ends export this many bytes. */
export const PROBE_MATERIAL_BYTES = 32
/** A probe begins with a nonce of this many bytes, which only the site itself can recognize. */
export const PROBE_NONCE_BYTES = 16
/** The shortest random padding after the nonce, in bytes, which hides the probe's size. */
export const PROBE_PADDING_MIN_BYTES = 96
/** The longest random padding after the nonce, in bytes. */
export const PROBE_PADDING_MAX_BYTES = 320
/** A probe without a verdict this long after its first packet has failed. */
export const PROBE_DEADLINE_MS = 5_000
/** How long the site may hold back a connection's first bytes while it expects a probe. */
export const PROBE_PEEK_MS = 100
/** The shortest interval between probes. */
export const PROBE_COOLDOWN_MS = 30_000
