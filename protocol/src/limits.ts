// Every number of the contract, once: its value, its unit in the name, and what it bounds.

/** Lease time to live when a request gives none, or a non-positive one. */
export const LEASE_TTL_DEFAULT_S = 120
/** A longer time to live is refused with `invalid_request`. */
export const LEASE_TTL_MAX_S = 600

/** A lease name after normalisation, in ASCII characters. */
export const LEASE_NAME_MAX_CHARS = 22
/** An Ethereum address without its `0x`, as hexadecimal digits. */
export const ADDRESS_HEX_CHARS = 40

/** A registration challenge is used once, within this time. */
export const CHALLENGE_TTL_S = 120
/** A client address may have so many open challenges; more get `rate_limited`. */
export const CHALLENGES_PER_SOURCE_MAX = 32

/** A request body of the control plane; those with metadata, and of `/v1/sign`, may be larger. */
export const BODY_MAX_BYTES: number = 16 * 1024
/** What the metadata of a lease may have, in UTF-16 code units; a longer text is refused and never cut. */
export const METADATA_DESCRIPTION_MAX_CHARS = 4096
/** `owner` in lease metadata has so many characters at most. */
export const METADATA_OWNER_MAX_CHARS = 1024
/** An address, or a picture of some 190 KB as a data URL. */
export const METADATA_THUMBNAIL_MAX_CHARS: number = 256 * 1024
/** Lease metadata has so many tags at most. */
export const METADATA_TAGS_MAX = 16
/** A tag has so many characters at most. */
export const METADATA_TAG_MAX_CHARS = 64
/**
 * A request body with lease metadata: that of a challenge, and of a renewal whose `access_token` comes within the first
 * {@link BODY_MAX_BYTES}. Metadata of full length fits, also when each character of its texts takes 4 bytes.
 */
export const METADATA_BODY_MAX_BYTES: number = 384 * 1024
/** A request body of the admin and policy endpoints. */
export const ADMIN_BODY_MAX_BYTES: number = 64 * 1024
/** A body must have arrived whole by then. */
export const BODY_DEADLINE_MS = 10_000

/** Idle reverse sessions that one lease may keep ready; one more gets `rate_limited`. */
export const READY_SESSIONS_MAX = 8
/** The relay writes {@link MARKER.keepalive} to an idle session this often. */
export const KEEPALIVE_INTERVAL_MS = 15_000
/** A marker that the session does not take within this time closes it. */
export const MARKER_WRITE_DEADLINE_MS = 5_000
/** How long a public connection waits for a ready session. */
export const CLAIM_TIMEOUT_MS = 10_000

/** A public ClientHello must be whole this long after the connection opened, a proxy's header before it included, … */
export const CLIENT_HELLO_CONNECTION_DEADLINE_MS = 10_000
/** … this long after its first byte, … */
export const CLIENT_HELLO_DEADLINE_MS = 2_000
/** … and no larger than this, its record headers included. */
export const CLIENT_HELLO_MAX_BYTES: number = 64 * 1024

/** The random value behind the TLS marker that `/v1/sign` must echo. */
export const BINDING_BYTES = 16
/** A binding that was not used by then is forgotten. */
export const BINDING_TTL_MS: number = 5 * 60_000

/** A request body of `/v1/sign` has so many bytes at most. */
export const SIGN_BODY_MAX_BYTES: number = 512 * 1024
/** How far `timestamp_unix` may be from the relay's clock. */
export const SIGN_CLOCK_SKEW_S = 30
/** The random `nonce` of a request to `/v1/sign` has so many bytes, and twice as many hexadecimal digits. */
export const SIGN_NONCE_BYTES = 16

/** The capability at the start of a carrier stream, as UTF-8 bytes. */
export const CAPABILITY_MAX_BYTES = 8192
/** Capability and answer must both have passed by then. */
export const CAPABILITY_DEADLINE_MS = 10_000
/** One WebSocket message of the browser carrier. */
export const WEBSOCKET_MESSAGE_MAX_BYTES: number = 1024 * 1024

/** A preflight answer may be kept this long by a browser. */
export const CORS_MAX_AGE_S: number = 24 * 60 * 60

/** Work before authentication, in units: what each source IP gets a minute, and how much it may save up. */
export const SOURCE_BUDGET_PER_MINUTE = 10
/** One client address may use so many units at once. */
export const SOURCE_BUDGET_BURST = 20
/** The same for the whole relay. */
export const RELAY_BUDGET_PER_MINUTE = 600
/** The whole relay may use so many units at once. */
export const RELAY_BUDGET_BURST = 200
/** What an endpoint costs of these budgets. */
export const BUDGET_COST = { challenge: 1, announce: 2, register: 5 } as const

/** A port whose lease was lost stays reserved for its identity this long; after that it is kept only while it is free. */
export const PORT_RESERVATION_MS: number = 5 * 60_000

/** Failed admin logins a minute from one source IP; more get `rate_limited`. */
export const LOGIN_FAILURES_PER_MINUTE = 5

/** Hello and answer on the first stream of a datagram tunnel: at most this long each, … */
export const TUNNEL_HELLO_MAX_BYTES = 4096
/** … and both must have passed by then. */
export const TUNNEL_HELLO_DEADLINE_MS = 10_000
/** A DATAGRAM of this size, flow id included, is always carried: what a QUIC packet of 1200 bytes has room for. */
export const DATAGRAM_ALWAYS_BYTES = 1150
/** What a larger QUIC packet has of other things than the DATAGRAM (RFC 9000 §17.3, RFC 9221 §4), with some air. */
export const TUNNEL_PACKET_OVERHEAD_BYTES = 50
/** Flow ids are from 1 to this, 32 bits. */
export const FLOW_ID_MAX = 0xffff_ffff
/** A flow in which nothing passes ends after this. */
export const FLOW_IDLE_MS: number = 5 * 60_000
/** The SDK lets something pass at least this often, … */
export const TUNNEL_KEEPALIVE_MS = 15_000
/** … and either side gives a tunnel up after this much silence. */
export const TUNNEL_IDLE_MS = 60_000
/** How often QUIC is asked how large the packets are that pass. */
export const PATH_MTU_POLL_MS = 250
/** What a tunnel's stream takes unread: nothing but a token, its answer and heartbeats passes there. */
export const TUNNEL_WINDOW_BYTES: number = 64 * 1024
/** A heartbeat on the first stream: two full packets of the paths that there are, so that one that swallows them shows. */
export const TUNNEL_HEARTBEAT_BYTES = 3000
