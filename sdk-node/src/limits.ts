// The limits that this package sets itself, each with its unit and reason; those of the wire are in @svc/protocol.

import { KEEPALIVE_INTERVAL_MS, MARKER_WRITE_DEADLINE_MS } from '@svc/protocol'

/** A native session from the first packet to its 101: name resolution, TCP, TLS, one exchange. */
export const DIAL_DEADLINE_MS = 10_000
/** An idle native session that hears nothing for this long is dead: a keepalive is due, and had its time to be written. */
export const SESSION_SILENCE_MAX_MS: number = KEEPALIVE_INTERVAL_MS + MARKER_WRITE_DEADLINE_MS
/** What a relay says when it refuses a session: an envelope, with much air. */
export const REFUSAL_MAX_BYTES: number = 16 * 1024

/** Leases lost, while the relay stayed reachable, … */
export const CONTEST_LOSSES_MAX = 3
/** … within this time: somebody else registers the same name with the same identity. */
export const CONTEST_WINDOW_MS: number = 5 * 60_000

/** A site probes itself no more often than this (specification, "Limits"). */
export const PROBE_COOLDOWN_MS = 30_000
/** A probe from its first packet to its verdict; without one by then it has failed. */
export const PROBE_DEADLINE_MS = 5_000
/** How long a connection may keep its first bytes back while a probe is awaited. */
export const PROBE_PEEK_MS = 100
/** What a probe sends: a nonce, and padding of any length between these, so that its size tells nothing. */
export const PROBE_NONCE_BYTES = 16
export const PROBE_PADDING_MIN_BYTES = 96
export const PROBE_PADDING_MAX_BYTES = 320
/** Keying material that both ends export. */
export const PROBE_MATERIAL_BYTES = 32

/** A local service that does not take a connection in this time is called down. */
export const TARGET_CONNECT_DEADLINE_MS = 10_000
/** WebSocket messages that wait for the visitor before the local service is read no further. */
export const WEBSOCKET_WAITING_MAX_BYTES: number = 1024 * 1024
/** … and those that wait for the local service before the visitor is dropped: a visitor cannot be paused. */
export const WEBSOCKET_BACKLOG_MAX_BYTES: number = 16 * 1024 * 1024
/** One message of a local service; the engine's own bound for the other way. */
export const TARGET_MESSAGE_MAX_BYTES: number = 16 * 1024 * 1024
/** How often a full visitor is looked at: no event tells. */
export const WEBSOCKET_DRAIN_POLL_MS = 20
