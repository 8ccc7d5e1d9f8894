// The limits that this package sets itself, each with its unit and reason; those of the wire are in @svc/protocol.

import { KEEPALIVE_INTERVAL_MS, MARKER_WRITE_DEADLINE_MS } from '@svc/protocol'

/** Milliseconds for a native session from the first packet to its 101: name resolution, TCP, TLS, one exchange. */
export const DIAL_DEADLINE_MS = 10_000
/** Milliseconds of silence after which an idle native session is dead: a keepalive was due, and had its time to be written. */
export const SESSION_SILENCE_MAX_MS: number = KEEPALIVE_INTERVAL_MS + MARKER_WRITE_DEADLINE_MS
/** Bytes that a native connection with many sessions buffers before its sender waits: four of yamux's messages. */
export const CARRIER_WAITING_MAX_BYTES: number = 256 * 1024
/** Milliseconds in which the relay ends a connection that the SDK has ended; then the SDK cuts it. */
export const CARRIER_CLOSE_DEADLINE_MS = 2_000
/** Visitors' connections at once by native sessions, unless the caller sets it: as many as a relay takes at one TCP port. */
export const NATIVE_CONNECTIONS_DEFAULT = 2048
/**
 * Milliseconds for a TCP connection to one address of a name, before the next address gets its turn. Node's own 250 give up
 * relays that are far away, and those of a machine that is busy.
 */
export const ADDRESS_DEADLINE_MS = 2_500
/**
 * Connections to one relay's control plane at once, for all sites of the process: signatures for a crowd of visitors wait for
 * each other beyond that.
 */
export const RELAY_CONNECTIONS_MAX = 64
/**
 * The same to one relay of a route behind the one that the site connects to. That one leads 16 connections for a lease: this many
 * to each of three relays, and one for the self-probe.
 */
export const ROUTE_CONNECTIONS_MAX = 5
/** Redirects that `site.fetch` follows: as many as the fetch standard says. */
export const REDIRECTS_MAX = 20
/** Milliseconds in which the kept connections are forgotten once: a broken network takes the carriers of all sites at once. */
export const FORGET_INTERVAL_MS = 1_000
/** Authorities whose connections and TLS sessions the sites of a process share: a process has one, seldom a few. */
export const AUTHORITIES_MAX = 16
/** Bytes of the longest body with which a relay refuses a session: an error envelope, with much room. */
export const REFUSAL_MAX_BYTES: number = 16 * 1024

/** Milliseconds in which a host shows its certificates: a relay lets a visitor wait ten seconds for a site. */
export const SHOWN_CHAIN_DEADLINE_MS = 15_000

/** Leases that a site may lose within `CONTEST_WINDOW_MS` while the relay stays reachable. */
export const CONTEST_LOSSES_MAX = 3
/** Milliseconds in which this many losses show that another process has the same name and identity. */
export const CONTEST_WINDOW_MS: number = 5 * 60_000

/** Milliseconds for a QUIC handshake with the relay, on one of its addresses. */
export const TUNNEL_CONNECT_DEADLINE_MS = 5_000
/** Milliseconds in which a heartbeat comes back, before the next one is due. Without it, the path drops large packets. */
export const HEARTBEAT_DEADLINE_MS = 10_000
/** DATAGRAM frames that are given to the QUIC library at once: a few times what it takes without losing any. */
export const PACE_BURST = 256
/** Milliseconds between two such portions, which allows some 100,000 datagrams a second. */
export const PACE_PAUSE_MS = 2
/** Visitors' datagrams that are passed on before answers are read again: as many as Node reads of a socket in one turn. */
export const DELIVERY_PORTION = 32
/** Datagrams on their way to the thread of the WASM client, and as many back; further ones are dropped. */
export const THREAD_WAITING_MAX = 4096
/** Milliseconds that the thread gets to tell the relay that the tunnel is closed. */
export const THREAD_FAREWELL_MS = 250
/** Visitors that the local UDP service sees at once, each by a socket: as many as a relay keeps flows of a lease. */
export const LOCAL_FLOWS_MAX = 16_384
/** Datagrams of a new visitor that wait until its socket is connected. */
export const LOCAL_WAITING_MAX = 16
/** Milliseconds between two searches for idle visitors. */
export const LOCAL_SWEEP_MS = 30_000
/** Bytes of a local service's answers that the kernel keeps while this process is busy, if the system allows. */
export const LOCAL_RECEIVE_BUFFER_BYTES: number = 256 * 1024

/** Milliseconds in which a local service must accept a connection, or the SDK treats it as down. */
export const TARGET_CONNECT_DEADLINE_MS = 10_000
/** Milliseconds that a visitor gets to take the last bytes of a stream, such as a TLS alert, and to end its direction. */
export const STREAM_LINGER_MS = 5_000
/** Milliseconds for which OpenSSL seals tickets of visitors with one key: the lifetime of a ticket of the engine. */
export const TLS_CONTEXT_LIFETIME_MS: number = 24 * 60 * 60_000
/** Idle connections to a local HTTP server that the SDK keeps: as many as Node's own agent. */
export const TARGET_IDLE_MAX = 256
/** Milliseconds for which an idle connection to a local HTTP server is kept: less than most servers keep theirs. */
export const TARGET_IDLE_MS = 30_000
/** Milliseconds by which the SDK gives an idle connection up before the local server, which said when it will. */
export const KEEP_ALIVE_MARGIN_MS = 1_000
/** Field lines of a local server's response: many more than servers send, which set a cookie with each. */
export const RESPONSE_FIELDS_MAX = 500
/** Streams of one HTTP/2 connection to a local server, however many more it takes: servers' usual bound. */
export const HTTP2_STREAMS_MAX = 100
/** Bytes of a response over HTTP/2 that a local server may send before the visitor has read them. */
export const HTTP2_STREAM_WINDOW_BYTES: number = 256 * 1024
/** Megabytes that one HTTP/2 connection to a local server may hold: the windows of all its streams, and as much to send. */
export const HTTP2_MEMORY_MAX_MB = 64
/** The SDK waits this long for a local server's word on `Expect: 100-continue`, which it may not know: curl's time. */
export const CONTINUE_WAIT_MS = 1_000
/** Characters of a request's path in the text of a target's fault, which is a line in a terminal. */
export const FAULT_PATH_MAX = 200
/** Interim responses (RFC 9110 §15.2) in front of one response of a local server: it sends one or two. */
export const INTERIM_RESPONSES_MAX = 16
/** Bytes of a local server's response that wait for the visitor before the SDK stops reading: one read of a socket. */
export const RESPONSE_READ_AHEAD_BYTES: number = 64 * 1024
/** Bytes of WebSocket messages that wait for one side, visitor or local service, before the SDK stops reading from the other. */
export const WEBSOCKET_WAITING_MAX_BYTES: number = 1024 * 1024
/** Bytes of a request's content that are kept, so that it can be sent again to a target that refuses the origin of the first try. */
export const REPEATED_BODY_MAX_BYTES: number = 64 * 1024
/** Milliseconds in which a target must answer when the SDK looks which host it takes. */
export const HOST_LOOK_DEADLINE_MS = 5_000
/** Redirects that such a look follows. */
export const LOOK_REDIRECTS_MAX = 3
/** Bytes of the longest message of a local service, the same as the engine's bound for visitors' messages. */
export const TARGET_MESSAGE_MAX_BYTES: number = 16 * 1024 * 1024
/** Milliseconds between two looks at a visitor whose queue is full: no event says that it has drained. */
export const WEBSOCKET_DRAIN_POLL_MS = 20

/** Seconds for which a hop route lives, by the clock of the relay that takes it: several refreshes. */
export const HOP_ROUTE_TTL_S = 120
/** Milliseconds between two times that a site brings its hop routes, by which it learns that a relay of the route is away. */
export const HOP_REFRESH_MS = 20_000
/** Milliseconds from the end of a connection along the route to the next such time. */
export const HOP_BROKEN_DELAY_MS = 500

/** Bytes of the output of `svc` that may wait for a slow reader: about 500 requests. Those beyond are left out. */
export const REQUESTS_BACKLOG_MAX_BYTES: number = 64 * 1024
/** The same for all other reports, which are few, and matter more. */
export const REPORTS_BACKLOG_MAX_BYTES: number = 1024 * 1024
