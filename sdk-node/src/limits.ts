// The limits of this package, each with its unit and reason; the protocol's limits are in @svc/protocol.

import { KEEPALIVE_INTERVAL_MS, MARKER_WRITE_DEADLINE_MS } from '@svc/protocol'

/** The deadline of a native session from the first packet to its 101, in milliseconds: DNS, TCP, TLS, one exchange. */
export const DIAL_DEADLINE_MS = 10_000
/** Milliseconds of silence after which an idle native session is dead: a keepalive was due and should have arrived. */
export const SESSION_SILENCE_MAX_MS: number = KEEPALIVE_INTERVAL_MS + MARKER_WRITE_DEADLINE_MS
/** The bytes that a multiplexed native connection buffers before its sender waits: four yamux messages. */
export const CARRIER_WAITING_MAX_BYTES: number = 256 * 1024
/** How long the SDK waits for the relay to end a connection that the SDK has ended, before it aborts it, in milliseconds. */
export const CARRIER_CLOSE_DEADLINE_MS = 2_000
/** The default limit of concurrent visitors over native sessions: as many as a relay takes at one TCP port. */
export const NATIVE_CONNECTIONS_DEFAULT = 2048
/**
 * Milliseconds for a TCP connection to one address of a name, before the next address is tried. Node's default of 250 gives up
 * on relays that are far away, and fails on a busy machine.
 */
export const ADDRESS_DEADLINE_MS = 2_500
/**
 * The most concurrent connections to one relay's control plane, for all sites of the process: beyond that, signatures for many
 * visitors queue.
 */
export const RELAY_CONNECTIONS_MAX = 64
/**
 * The same for a further relay of a route. The relay that the site connects to forwards 16 connections for a lease: this many
 * to each of three relays, and one for the self-probe.
 */
export const ROUTE_CONNECTIONS_MAX = 5
/** The most redirects that `site.fetch` follows, as in the Fetch standard. */
export const REDIRECTS_MAX = 20
/** The pooled connections are dropped at most once in this many milliseconds: a broken network ends the carriers of all sites at once. */
export const FORGET_INTERVAL_MS = 1_000
/** The most sets of CA and proxy for which a process shares connections and TLS sessions: it has one, rarely a few. */
export const AUTHORITIES_MAX = 16
/** The longest body with which a relay may refuse a session, in bytes: far more than an error envelope. */
export const REFUSAL_MAX_BYTES: number = 16 * 1024

/** The deadline for a host to present its certificates, in milliseconds: a relay lets a visitor wait ten seconds for a site. */
export const SHOWN_CHAIN_DEADLINE_MS = 15_000

/** How many leases a site may lose within `CONTEST_WINDOW_MS` while the relay stays reachable. */
export const CONTEST_LOSSES_MAX = 3
/** The time in which that many losses show that another process has the same name and identity, in milliseconds. */
export const CONTEST_WINDOW_MS: number = 5 * 60_000

/** The deadline of a QUIC handshake with the relay on one of its addresses, in milliseconds. */
export const TUNNEL_CONNECT_DEADLINE_MS = 5_000
/** Milliseconds for a heartbeat to return, before the next one is due. If it does not, the path drops large packets. */
export const HEARTBEAT_DEADLINE_MS = 10_000
/** The most DATAGRAM frames passed to the QUIC library at once. */
export const PACE_BURST = 256
/** Milliseconds between two such bursts, which allows about 100,000 datagrams a second. */
export const PACE_PAUSE_MS = 2
/** How many visitors' datagrams are delivered before answers are read again: as many as Node reads from a socket in one turn. */
export const DELIVERY_PORTION = 32
/** The most datagrams in flight to the thread of the WASM client, and as many back; further ones are dropped. */
export const THREAD_WAITING_MAX = 4096
/** How long the thread has to tell the relay that the tunnel is closed, in milliseconds. */
export const THREAD_FAREWELL_MS = 250
/** The most concurrent visitors of the local UDP service, each with a socket: as many as a relay keeps flows of a lease. */
export const LOCAL_FLOWS_MAX = 16_384
/** The most datagrams of a new visitor that wait until its socket is connected. */
export const LOCAL_WAITING_MAX = 16
/** Milliseconds between two searches for idle visitors. */
export const LOCAL_SWEEP_MS = 30_000
/** The kernel's receive buffer for a local service's answers, in bytes, if the system allows it. */
export const LOCAL_RECEIVE_BUFFER_BYTES: number = 256 * 1024

/** The deadline for a local service to accept a connection, in milliseconds; then the SDK treats it as down. */
export const TARGET_CONNECT_DEADLINE_MS = 10_000
/** How long a visitor has to receive the last bytes of a stream, such as a TLS alert, and to end its direction, in milliseconds. */
export const STREAM_LINGER_MS = 5_000
/** How long OpenSSL seals visitors' tickets with one key, in milliseconds: the lifetime of the engine's tickets. */
export const TLS_CONTEXT_LIFETIME_MS: number = 24 * 60 * 60_000
/** The most idle connections to a local HTTP server: as many as Node's own agent keeps. */
export const TARGET_IDLE_MAX = 256
/** How long an idle connection to a local HTTP server is kept, in milliseconds: less than most servers keep theirs. */
export const TARGET_IDLE_MS = 30_000
/** How long before the local server's announced timeout the SDK closes an idle connection, in milliseconds. */
export const KEEP_ALIVE_MARGIN_MS = 1_000
/** The most field lines of a local server's response: many more than servers send, even with one for each cookie. */
export const RESPONSE_FIELDS_MAX = 500
/** The most streams of one HTTP/2 connection to a local server, even if it allows more: servers' usual limit. */
export const HTTP2_STREAMS_MAX = 100
/** The window of a response over HTTP/2 from a local server, in bytes. */
export const HTTP2_STREAM_WINDOW_BYTES: number = 256 * 1024
/** The memory limit of one HTTP/2 connection to a local server, in megabytes: the windows of all its streams, and as much to send. */
export const HTTP2_MEMORY_MAX_MB = 64
/** How long the SDK waits for a local server's 100 (Continue), which it may not support: as curl does. */
export const CONTINUE_WAIT_MS = 1_000
/** The most characters of a request's path in a message about a target's error, which is a line in a terminal. */
export const FAULT_PATH_MAX = 200
/** The most interim responses (RFC 9110 §15.2) before one response of a local server, which sends one or two. */
export const INTERIM_RESPONSES_MAX = 16
/** The bytes of a local server's response that may wait for the visitor before the SDK stops reading: one read of a socket. */
export const RESPONSE_READ_AHEAD_BYTES: number = 64 * 1024
/** The bytes of WebSocket messages that may wait for one side, visitor or local service, before the SDK stops reading from the other. */
export const WEBSOCKET_WAITING_MAX_BYTES: number = 1024 * 1024
/** The most bytes of a request's content that are kept to repeat it for a target that refuses the first attempt's origin. */
export const REPEATED_BODY_MAX_BYTES: number = 64 * 1024
/** The deadline of a target's answer when the SDK probes which host it accepts, in milliseconds. */
export const HOST_LOOK_DEADLINE_MS = 5_000
/** The most redirects that such a probe follows. */
export const LOOK_REDIRECTS_MAX = 3
/** The longest message of a local service, in bytes: the same limit as for visitors' messages. */
export const TARGET_MESSAGE_MAX_BYTES: number = 16 * 1024 * 1024
/** The polling interval for a visitor whose queue is full, in milliseconds: no event says that it has drained. */
export const WEBSOCKET_DRAIN_POLL_MS = 20

/** The life of a hop route, in seconds, by the clock of the relay that accepts it: several refreshes. */
export const HOP_ROUTE_TTL_S = 120
/** Milliseconds between two refreshes of a site's hop routes, by which it learns that a relay of the route is away. */
export const HOP_REFRESH_MS = 20_000
/** Milliseconds from the end of a connection along the route to the next refresh. */
export const HOP_BROKEN_DELAY_MS = 500

/** The most bytes of `svc`'s output that may wait for a slow reader: about 500 requests. Further ones are dropped. */
export const REQUESTS_BACKLOG_MAX_BYTES: number = 64 * 1024
/** The same for all other reports, which are few and more important. */
export const REPORTS_BACKLOG_MAX_BYTES: number = 1024 * 1024
