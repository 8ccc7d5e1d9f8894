// The limits that this package sets itself, each with its unit and reason; those of the wire are in @svc/protocol.

import { KEEPALIVE_INTERVAL_MS, MARKER_WRITE_DEADLINE_MS } from '@svc/protocol'

/** A native session from the first packet to its 101: name resolution, TCP, TLS, one exchange. */
export const DIAL_DEADLINE_MS = 10_000
/** An idle native session that hears nothing for this long is dead: a keepalive is due, and had its time to be written. */
export const SESSION_SILENCE_MAX_MS: number = KEEPALIVE_INTERVAL_MS + MARKER_WRITE_DEADLINE_MS
/** Visitors' connections at once by native sessions, unless told otherwise: as many as a relay takes at one TCP port. */
export const NATIVE_CONNECTIONS_DEFAULT = 2048
/** What a relay says when it refuses a session: an envelope, with much air. */
export const REFUSAL_MAX_BYTES: number = 16 * 1024

/** Leases lost, while the relay stayed reachable, … */
export const CONTEST_LOSSES_MAX = 3
/** … within this time: somebody else registers the same name with the same identity. */
export const CONTEST_WINDOW_MS: number = 5 * 60_000

/** Each of the two exchanges that tell whether a relay is there, and how far away: a slower one is of no use. */
export const HEALTH_DEADLINE_MS = 3_000
/** Descriptors of one answer to discovery that are read: it may have any number, and each costs a signature to check. */
export const DESCRIPTORS_MAX = 64
/** Relays that are found and then asked how they are. */
export const DISCOVERED_PROBES_MAX = 16

/** A QUIC handshake with the relay, on one of its addresses. */
export const TUNNEL_CONNECT_DEADLINE_MS = 5_000
/** A heartbeat comes back within this time, or the path swallows large packets: before the next one is due. */
export const HEARTBEAT_DEADLINE_MS = 10_000
/** Datagrams that are given to the QUIC library at once: a few times what it takes without losing any, … */
export const PACE_BURST = 256
/** … with this much time in between, which is some 100,000 a second, … */
export const PACE_PAUSE_MS = 2
/** … while so many wait, which is what a service may send in one go. */
export const PACE_WAITING_MAX = 4096
/** Visitors' datagrams that are passed on before answers are read again: as many as Node reads of a socket in one turn. */
export const DELIVERY_PORTION = 32
/** Datagrams on their way to the thread of the WASM client, and as many back: what is more is dropped. */
export const THREAD_WAITING_MAX = 4096
/** What that thread has to tell the relay that the tunnel is closed. */
export const THREAD_FAREWELL_MS = 250
/** Visitors that the local UDP service sees at once, each by a socket: as many as a relay keeps flows of a lease. */
export const LOCAL_FLOWS_MAX = 16_384
/** Datagrams of a new visitor that wait until its socket is connected. */
export const LOCAL_WAITING_MAX = 16
/** How often visitors that are idle are looked for. */
export const LOCAL_SWEEP_MS = 30_000
/** What the kernel keeps of a local service's answers while this process is busy, if the system allows. */
export const LOCAL_RECEIVE_BUFFER_BYTES: number = 1024 * 1024

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
