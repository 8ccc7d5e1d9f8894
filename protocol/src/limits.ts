// All numbers of the contract, each declared once, with its unit in the name and a comment on what it bounds.

/** A lease lives this many seconds when the request gives no time to live, or a non-positive one. */
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
 * A client address, or an IPv6 /64, may have this many open challenges, where {@link SOURCE_BUDGET_PER_MINUTE} is its default. The relay
 * answers more with `rate_limited`.
 */
export const CHALLENGES_PER_SOURCE_MAX = 32

/**
 * A request body of the control plane has at most this many bytes. Those with metadata, and of `/v1/sign`, may have more.
 */
export const BODY_MAX_BYTES: number = 16 * 1024
/**
 * `description` in lease metadata has at most this many UTF-16 code units. The relay refuses a longer text, and never
 * cuts one.
 */
export const METADATA_DESCRIPTION_MAX_CHARS = 4096
/** `owner` in lease metadata has at most this many UTF-16 code units. */
export const METADATA_OWNER_MAX_CHARS = 1024
/** `thumbnail` in lease metadata, an address or a picture of some 190 KB as a data URL, has at most this many. */
export const METADATA_THUMBNAIL_MAX_CHARS: number = 256 * 1024
/** Lease metadata has at most this many tags. */
export const METADATA_TAGS_MAX = 16
/** A tag has at most this many UTF-16 code units. */
export const METADATA_TAG_MAX_CHARS = 64
/**
 * A request body with lease metadata has at most this many bytes: that of a challenge, and of a renewal whose
 * `access_token` comes within the first {@link BODY_MAX_BYTES}. Metadata of full length fits, also when each
 * character of its texts takes 4 bytes.
 */
export const METADATA_BODY_MAX_BYTES: number = 384 * 1024
/** A request body of the admin and policy endpoints has at most this many bytes. */
export const ADMIN_BODY_MAX_BYTES: number = 64 * 1024
/** A request body must have arrived whole after this time. */
export const BODY_DEADLINE_MS = 10_000
/** A request body of `/api/x402/*`, and of `/x402/prepare` at a site, has at most this many bytes (docs/protocol.md §19). */
export const X402_BODY_MAX_BYTES: number = 64 * 1024
/** The manifest of a static cache snapshot has at most this many bytes of JSON. */
export const CACHE_MANIFEST_MAX_BYTES: number = 1024 * 1024
/** A snapshot has at most this many files. */
export const CACHE_FILES_MAX = 2048
/**
 * A path of such a file has at most this many UTF-16 code units, so that a request for it fits in a head of 16 KiB, also
 * when each takes three bytes and each byte is percent-encoded.
 */
export const CACHE_PATH_MAX_CHARS = 1024
/** A file of a snapshot has at most this many bytes, unless the relay says another number (docs/protocol.md §15.1). */
export const CACHE_OBJECT_MAX_BYTES: number = 10 * 1024 * 1024
/** All files of a snapshot have at most this many bytes together, unless the relay says another number. */
export const CACHE_EXPOSURE_MAX_BYTES: number = 64 * 1024 * 1024
/** The upload of a snapshot must have arrived whole after this time. */
export const CACHE_UPLOAD_DEADLINE_MS = 120_000
/** While a site is renewed, its snapshot expires at most this long after the last renewal, plus its `cache_ttl`. */
export const CACHE_RENEWAL_GRACE_MS = 120_000

/** One lease may keep this many idle reverse sessions ready. The relay answers one more with `rate_limited`. */
export const READY_SESSIONS_MAX = 8
/** The relay writes {@link MARKER.keepalive} to an idle session this often. */
export const KEEPALIVE_INTERVAL_MS = 15_000
/** The relay closes a session that does not take a marker within this time. */
export const MARKER_WRITE_DEADLINE_MS = 5_000
/** A public connection waits for a ready session at most this long. */
export const CLAIM_TIMEOUT_MS = 10_000

/** A public ClientHello must be whole this long after the connection opened, with a proxy's header before it. */
export const CLIENT_HELLO_CONNECTION_DEADLINE_MS = 10_000
/** A public ClientHello must be whole this long after its first byte. */
export const CLIENT_HELLO_DEADLINE_MS = 2_000
/** A public ClientHello has at most this many bytes, with its record headers. */
export const CLIENT_HELLO_MAX_BYTES: number = 64 * 1024

/** The binding, the random value after the TLS marker, has this many bytes. */
export const BINDING_BYTES = 16
/** The relay forgets a binding that was not used within this time. */
export const BINDING_TTL_MS: number = 5 * 60_000

/** A request body of `/v1/sign` has at most this many bytes. */
export const SIGN_BODY_MAX_BYTES: number = 512 * 1024
/** `timestamp_unix` may differ from the relay's clock by at most this. */
export const SIGN_CLOCK_SKEW_S = 30
/** The random `nonce` of a request to `/v1/sign` has this many bytes, and twice as many hexadecimal digits. */
export const SIGN_NONCE_BYTES = 16

/** A certificate request of a site has at most this many bytes of DER (docs/protocol.md §11). */
export const CERTIFICATE_REQUEST_MAX_BYTES: number = 8 * 1024

/** The capability at the start of a carrier stream has at most this many bytes of UTF-8. */
export const CAPABILITY_MAX_BYTES = 8192
/** Capability and answer must both have been sent within this time. */
export const CAPABILITY_DEADLINE_MS = 10_000
/** One WebSocket message of the browser carrier has at most this many bytes. */
export const WEBSOCKET_MESSAGE_MAX_BYTES: number = 1024 * 1024

/** A browser may keep the answer to a preflight request this long. */
export const CORS_MAX_AGE_S: number = 24 * 60 * 60

/**
 * One client address, or an IPv6 /64, may use this many units of work before authentication a minute.
 * A relay's operator may set another number.
 */
export const SOURCE_BUDGET_PER_MINUTE = 10
/** One client address, or an IPv6 /64, may use this many units at once: a developer starts a project of ten sites. */
export const SOURCE_BUDGET_BURST = 60
/** All clients of a relay together may use this many units a minute. A relay's operator may set another number. */
export const RELAY_BUDGET_PER_MINUTE = 600
/** All clients of a relay together may use this many units at once. */
export const RELAY_BUDGET_BURST = 600
/** An endpoint costs this many of these units. */
export const BUDGET_COST = { challenge: 1, announce: 2, register: 5 } as const

/**
 * A port whose lease was lost stays reserved for its identity this long. After that it is kept only while it is free.
 */
export const PORT_RESERVATION_MS: number = 5 * 60_000

/** One client address, or an IPv6 /64, may fail this many admin logins a minute. The relay answers more with `rate_limited`. */
export const LOGIN_FAILURES_PER_MINUTE = 5

/** Hello and answer on the first stream of a datagram tunnel have at most this many bytes each. */
export const TUNNEL_HELLO_MAX_BYTES = 4096
/** Hello and answer must both have been sent within this time. */
export const TUNNEL_HELLO_DEADLINE_MS = 10_000
/** A DATAGRAM of this size, flow id included, always fits: a QUIC packet of 1200 bytes has room for it. */
export const DATAGRAM_ALWAYS_BYTES = 1150
/**
 * A larger QUIC packet has at most this many bytes beside the DATAGRAM (RFC 9000 §17.3, RFC 9221 §4), with some to spare.
 */
export const TUNNEL_PACKET_OVERHEAD_BYTES = 50
/**
 * Bytes of an aggregate of datagrams where the path takes this many, less than {@link TUNNEL_HEARTBEAT_BYTES}: the heartbeat proves
 * it. Elsewhere an aggregate has at most {@link DATAGRAM_ALWAYS_BYTES}.
 */
export const DATAGRAM_AGGREGATE_MAX_BYTES = 2900
/** Datagrams that wait in one queue of relay or SDK. */
export const DATAGRAM_QUEUE_MAX = 4096
/**
 * Milliseconds for which a datagram waits in a queue in which younger ones wait behind it. Then it is dropped. A process that has
 * a quarter of a processor gets none for 75 ms at a time.
 */
export const DATAGRAM_WAIT_MAX_MS = 200
/**
 * The same for a queue that stands: one from which nothing has come for {@link DATAGRAM_STANDING_INTERVAL_MS} that had waited for
 * {@link DATAGRAM_STANDING_TARGET_MS} or less.
 */
export const DATAGRAM_STANDING_WAIT_MAX_MS = 20
/** The wait in milliseconds that shows that a queue was empty a moment ago: the target of CoDel (RFC 8289 §4.4). */
export const DATAGRAM_STANDING_TARGET_MS = 5
/** Milliseconds after which a queue is not that of a burst or a stall any more: the interval of CoDel (RFC 8289 §4.3). */
export const DATAGRAM_STANDING_INTERVAL_MS = 100
/** Flow ids are from 1 to this, 32 bits. */
export const FLOW_ID_MAX = 0xffff_ffff
/** A flow without datagrams ends after this time. */
export const FLOW_IDLE_MS: number = 5 * 60_000
/** The SDK sends something on a tunnel at least this often. */
export const TUNNEL_KEEPALIVE_MS = 15_000
/** Either side gives a tunnel up after this much silence. */
export const TUNNEL_IDLE_MS = 60_000
/** Either side asks QUIC this often how large the packets are that the path carries. */
export const PATH_MTU_POLL_MS = 250
/** A tunnel's stream accepts this many unread bytes: only a token, its answer and heartbeats pass there. */
export const TUNNEL_WINDOW_BYTES: number = 64 * 1024
/**
 * A heartbeat on the first stream has this many bytes: two full packets of real paths, so that a path that drops large
 * ones is noticed.
 */
export const TUNNEL_HEARTBEAT_BYTES = 3000

/** A route has at most this many relays. Each passes on how many the visitor has passed. */
export const HOP_RELAYS_MAX = 4
/** An owner has at most this many hop routes at one relay: one for each hostname of each site, and those that replace them. */
export const HOP_ROUTES_PER_OWNER_MAX = 64
/** A hop route ends at most this long after the relay took it. */
export const HOP_ROUTE_TTL_MAX_S = 600
