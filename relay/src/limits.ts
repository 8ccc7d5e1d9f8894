// The relay's own numbers: bounds that no client needs to know. Those of the contract are in @svc/protocol.

/** Public and API connections open at once. */
export const CONNECTIONS_MAX = 16_384
/** Visitors of one lease that wait for a ready session at once; one more is turned away at once. */
export const WAITING_CLAIMS_MAX = 1024
/** Active leases. */
export const LEASES_MAX = 100_000
/** Open registration challenges of all sources. */
export const CHALLENGES_MAX = 10_000
/** Bindings between activation and signature, of all leases; the oldest go first. */
export const BINDINGS_MAX = 65_536
/** WebSockets of one lease: one is enough, a few overlap while a page reconnects or spreads its load. */
export const CARRIERS_PER_LEASE_MAX = 8
/** Streams of one WebSocket, ready and bridged ones together. */
export const CARRIER_STREAMS_MAX = 1024
/** Bytes given to a WebSocket that the kernel has not taken yet, beyond which its sender waits. */
export const WEBSOCKET_BUFFERED_MAX_BYTES: number = 1024 * 1024
/** An answer to a ping may take this long on a WebSocket on which nothing else comes either. */
export const CARRIER_PING_DEADLINE_MS = 5_000
/** A claimed session has to answer the visitor's ClientHello by then: as long as the page's own handshake may take. */
export const FIRST_ANSWER_DEADLINE_MS = 15_000
/** A carrier that is told to close is cut after this. */
export const CARRIER_CLOSE_DEADLINE_MS = 2_000
/** TCP keep-alive probes on public connections begin after this much silence, so that vanished peers end. */
export const TCP_KEEPALIVE_MS = 30_000
/** Head of an API request. */
export const API_HEAD_MAX_BYTES: number = 16 * 1024
/** A TLS handshake with the API, and then each request's head, must be whole by then, … */
export const API_HEAD_DEADLINE_MS = 10_000
/** … which is looked at this often. */
export const API_DEADLINE_CHECK_MS = 2_000
/** A kept-alive API connection may be idle this long; longer than the SDKs' gap between two signatures of a visit. */
export const API_IDLE_MS = 60_000
/** Sources whose failed admin logins are remembered; the one that failed longest ago is forgotten first. */
export const LOGIN_SOURCES_MAX = 1024
/** Lease metadata, in UTF-16 code units each. */
export const METADATA_TEXT_MAX = 1024
export const METADATA_THUMBNAIL_MAX: number = 16 * 1024
export const METADATA_TAGS_MAX = 16
export const METADATA_TAG_MAX = 64
