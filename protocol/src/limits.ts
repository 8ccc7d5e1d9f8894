// All limits of the protocol, each declared once, with its unit in the name and a comment on what it bounds.

/** The default life of a lease, in seconds, when the request has no positive time to live. */
export const LEASE_TTL_DEFAULT_S = 120
/** The relay refuses a longer time to live with `invalid_request`. */
export const LEASE_TTL_MAX_S = 600

/** A normalized lease name has at most this many ASCII characters. */
export const LEASE_NAME_MAX_CHARS = 22
/** An Ethereum address has this many hexadecimal digits after its `0x`. */
export const ADDRESS_HEX_CHARS = 40

/** A registration challenge can be used once, within this time. */
export const CHALLENGE_TTL_S = 120
/**
 * The most open challenges of a client address or IPv6 /64, if {@link SOURCE_BUDGET_PER_MINUTE} is its default. The relay
 * answers more with `rate_limited`.
 */
export const CHALLENGES_PER_SOURCE_MAX = 32

/**
 * The largest request body of the control plane, in bytes, except those with metadata and of `/v1/sign`.
 */
export const BODY_MAX_BYTES: number = 16 * 1024
/** A request body of the admin and policy endpoints has at most this many bytes. */
export const ADMIN_BODY_MAX_BYTES: number = 64 * 1024
/** The reason of a ban has at most this many UTF-16 code units. */
export const BAN_REASON_MAX_CHARS = 200
/** One request decides about at most this many identities. */
export const LEASE_DECISIONS_MAX = 100
/** Such a request has a body of at most this many bytes: each of its bans may have a reason, in any script. */
export const LEASE_DECISIONS_BODY_MAX_BYTES: number = 160 * 1024
/** The deadline of a complete request body. */
export const BODY_DEADLINE_MS = 10_000
/** A request body of `/api/x402/*`, and of `/x402/prepare` at a site, has at most this many bytes (docs/protocol.md §19). */
export const X402_BODY_MAX_BYTES: number = 64 * 1024

/** One lease may keep this many idle reverse sessions ready. The relay answers one more with `rate_limited`. */
export const READY_SESSIONS_MAX = 8
/** The relay writes {@link MARKER.keepalive} to an idle session this often. */
export const KEEPALIVE_INTERVAL_MS = 15_000
/** The relay closes a session that does not accept a marker within this time. */
export const MARKER_WRITE_DEADLINE_MS = 5_000
/** A public connection waits for a ready session at most this long. */
export const CLAIM_TIMEOUT_MS = 10_000

/** The deadline of a complete public ClientHello, from the opening of the connection, including a PROXY header before it. */
export const CLIENT_HELLO_CONNECTION_DEADLINE_MS = 10_000
/** The deadline of a complete public ClientHello, from its first byte. */
export const CLIENT_HELLO_DEADLINE_MS = 2_000
/** A public ClientHello has at most this many bytes, with its record headers. */
export const CLIENT_HELLO_MAX_BYTES: number = 64 * 1024

/** The binding, the random value after the TLS marker, has this many bytes. */
export const BINDING_BYTES = 16
/** The relay forgets an unused binding after this time. */
export const BINDING_TTL_MS: number = 5 * 60_000

/** A request body of `/v1/sign` has at most this many bytes. */
export const SIGN_BODY_MAX_BYTES: number = 512 * 1024
/** The largest difference of `timestamp_unix` from the relay's clock. */
export const SIGN_CLOCK_SKEW_S = 30
/** The random `nonce` of a request to `/v1/sign` has this many bytes, and twice as many hexadecimal digits. */
export const SIGN_NONCE_BYTES = 16

/** A certificate request of a site has at most this many bytes of DER (docs/protocol.md §11). */
export const CERTIFICATE_REQUEST_MAX_BYTES: number = 8 * 1024

/** A browser may keep the answer to a preflight request this long. */
export const CORS_MAX_AGE_S: number = 24 * 60 * 60

/**
 * The units of unauthenticated work that a client address or IPv6 /64 may use per minute.
 * A relay's operator may set another number.
 */
export const SOURCE_BUDGET_PER_MINUTE = 10
/** The units that a client address or IPv6 /64 may use in a burst: a developer starts a project of ten sites. */
export const SOURCE_BUDGET_BURST = 60
/** The units that all clients of a relay together may use per minute. A relay's operator may set another number. */
export const RELAY_BUDGET_PER_MINUTE = 600
/** The units that all clients of a relay together may use in a burst. */
export const RELAY_BUDGET_BURST = 600
/** The cost of each endpoint in these units. */
export const BUDGET_COST = { challenge: 1, announce: 2, register: 5 } as const

/**
 * How long a port whose lease was lost stays reserved for its identity. After that, the identity gets it back only if it is still free.
 */
export const PORT_RESERVATION_MS: number = 5 * 60_000

/** The failed admin logins that a client address or IPv6 /64 may have per minute. The relay answers more with `rate_limited`. */
export const LOGIN_FAILURES_PER_MINUTE = 5

/** Hello and answer on the first stream of a datagram tunnel have at most this many bytes each. */
export const TUNNEL_HELLO_MAX_BYTES = 4096
/** Hello and answer must both have been sent within this time. */
export const TUNNEL_HELLO_DEADLINE_MS = 10_000
/** A DATAGRAM of this size, flow id included, always fits: a QUIC packet of 1200 bytes has room for it. */
export const DATAGRAM_ALWAYS_BYTES = 1150
/**
 * The overhead of a larger QUIC packet besides the DATAGRAM, in bytes (RFC 9000 §17.3, RFC 9221 §4), with some to spare.
 */
export const TUNNEL_PACKET_OVERHEAD_BYTES = 50
/**
 * The largest aggregate of datagrams, in bytes, if the path carries it. It is below {@link TUNNEL_HEARTBEAT_BYTES}, so the heartbeat proves
 * that. Otherwise an aggregate has at most {@link DATAGRAM_ALWAYS_BYTES}.
 */
export const DATAGRAM_AGGREGATE_MAX_BYTES = 2900
/** The most datagrams in one queue of relay or SDK. */
export const DATAGRAM_QUEUE_MAX = 4096
/**
 * How long a datagram may wait in a queue with newer ones behind it before it is dropped, in milliseconds. A process with
 * a quarter of a processor gets no time for 75 ms in a row.
 */
export const DATAGRAM_WAIT_MAX_MS = 200
/**
 * The same for a standing queue: one in which, for {@link DATAGRAM_STANDING_INTERVAL_MS}, no sent datagram had waited for
 * {@link DATAGRAM_STANDING_TARGET_MS} or less.
 */
export const DATAGRAM_STANDING_WAIT_MAX_MS = 20
/** A wait in milliseconds at which a queue is not standing: CoDel's target (RFC 8289 §4.4). */
export const DATAGRAM_STANDING_TARGET_MS = 5
/** Milliseconds after which a queue is standing, rather than due to a burst or a stall: CoDel's interval (RFC 8289 §4.3). */
export const DATAGRAM_STANDING_INTERVAL_MS = 100
/** Flow ids are from 1 to this, 32 bits. */
export const FLOW_ID_MAX = 0xffff_ffff
/** A flow without datagrams ends after this time. */
export const FLOW_IDLE_MS: number = 5 * 60_000
/** The SDK sends something on a tunnel at least this often. */
export const TUNNEL_KEEPALIVE_MS = 15_000
/** Either side closes a tunnel after this much silence. */
export const TUNNEL_IDLE_MS = 60_000
/** The interval at which either side asks QUIC for the path MTU. */
export const PATH_MTU_POLL_MS = 250
/** The window of a tunnel's stream, in bytes: it carries only a token, its answer, heartbeats, and addresses of flows. */
export const TUNNEL_WINDOW_BYTES: number = 64 * 1024
/**
 * The size of a heartbeat on the first stream, in bytes: two full packets of real paths, so that a path that drops large
 * ones is noticed.
 */
export const TUNNEL_HEARTBEAT_BYTES = 3000
/** The longest line about a flow on the first stream, in bytes: half as much again as an IPv6 address and the longest numbers need. */
export const FLOW_LINE_MAX_BYTES = 128
/** How long a datagram waits for the line about its flow, in milliseconds. Then the visitor's address is unknown. */
export const FLOW_LINE_WAIT_MS = 50

/** The most relays of a route. Each forwards the number of relays that the visitor has passed. */
export const HOP_RELAYS_MAX = 4
/** The most hop routes of an owner at one relay: one for each hostname of each site, and their replacements. */
export const HOP_ROUTES_PER_OWNER_MAX = 64
/** A hop route expires at most this long after the relay accepted it. */
export const HOP_ROUTE_TTL_MAX_S = 600
