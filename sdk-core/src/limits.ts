// The limits that this package sets itself, each with its unit and reason; those of the wire are in @svc/protocol.

import { CHALLENGE_TTL_S } from '@svc/protocol'

/** A control-plane exchange, connect to last byte: longer than any the relay needs, shorter than a lease. */
export const CONTROL_DEADLINE_MS = 15_000
/** For this long a signed challenge is shown again when the relay asked to wait: its life, less the way there. */
export const PROOF_REUSE_MS: number = (CHALLENGE_TTL_S - 20) * 1000
/** Giving a lease up is a courtesy: it expires by itself. */
export const UNREGISTER_DEADLINE_MS = 5_000
/** A signature that takes longer has lost its visitor: within the handshake's own deadline. */
export const SIGN_DEADLINE_MS = 8_000
/** An answer of the control plane. The largest, a certificate chain, has a few kilobytes. */
export const RESPONSE_MAX_BYTES: number = 256 * 1024
/** Certificates in a chain: leaf, intermediates and some air. */
export const CHAIN_MAX_CERTIFICATES = 10
/** A token is at most what a capability frame carries, for it must fit into headers, too. */
export const ACCESS_TOKEN_MAX_CHARS = 8192
/** A `Retry-After` beyond this is cut: the site would look dead. */
export const RETRY_AFTER_MAX_MS: number = 5 * 60_000

/** A failed renewal is tried again after this: six times in the second half of the shortest usual lease. */
export const RENEWAL_RETRY_MS = 10_000

/** A clock here that leaps by more was set, or the machine slept: the lease is renewed, which tells the relay's time anew. */
export const CLOCK_LEAP_MS = 5_000

/** Whether the operator approved the site is asked first after this, … */
export const APPROVAL_POLL_MIN_MS = 1_000
/** … then each time after this part of the time waited, … */
export const APPROVAL_POLL_SHARE = 0.25
/** … and at least this often: a look costs the relay one signature. */
export const APPROVAL_POLL_MAX_MS = 10_000
/** So long a site that came back is not called online while it asks whether the relay still lets visitors in. */
export const APPROVAL_CHECK_DEADLINE_MS = 1_000

/** WebSocket handshake, TLS and DNS included. */
export const CONNECT_DEADLINE_MS = 10_000
/** What may wait inside the WebSocket before sending pauses: enough for 100 MB/s at 10 ms. */
export const BUFFERED_AMOUNT_MAX_BYTES: number = 1024 * 1024
/**
 * How often a full WebSocket is looked at: as often as browsers allow a timer that repeats (HTML, "Timers"). Incoming messages
 * look, too, so that throttled timers do not matter.
 */
export const DRAIN_POLL_MS = 4
/** Silence on a WebSocket after which it is pinged: the relay writes a keepalive at least every 15 s. */
export const SILENCE_MAX_MS = 12_000
/** Bytes renew the watch for silence at most this often. */
export const WATCH_RENEW_MS = 2_000
/** A ping unanswered for this long proves the WebSocket dead: with the silence before, 16 s after its last byte. */
export const PING_DEADLINE_MS = 4_000
/** A deadline that comes later than this after its time was slept through; hidden pages are up to 1 s late. */
export const SLEPT_MS = 3_000

/** How long sending and round trips are watched before a WebSocket is called saturated. */
export const LOAD_WINDOW_MS = 1_000
/** The part of that during which its buffer was full. */
export const LOAD_FULL_SHARE = 0.5
/** A round trip of this many times the least one, … */
export const LOAD_RTT_FACTOR = 4
/** … and of at least this, is one that waits in a queue: less may be the page's own work. */
export const LOAD_RTT_MIN_MS = 200
/** WebSockets of a site: half of what a relay allows, so that old ones may linger there while a page reconnects. */
export const CARRIER_SOCKETS_MAX = 4
/** Streams on one WebSocket: a relay takes 1,024, and counts those that are ending a little longer. */
export const SOCKET_STREAMS_MAX = 1000
/** With so many on each of them, another WebSocket is opened: the next visitors do not wait for it. */
export const SOCKET_STREAMS_MANY = 768
/** When those that there are would fill less than this share of that on one WebSocket fewer, one may go. */
export const SCALE_DOWN_STREAMS_SHARE = 0.5
/** Between one more WebSocket and the next: the first has to take effect. */
export const SCALE_UP_PAUSE_MS = 3_000
/** Without saturation for this long, one WebSocket less will do: it gets no more streams. */
export const SCALE_DOWN_IDLE_MS = 60_000
/** How often traffic makes a carrier look at its load and its ready streams. */
export const MAINTENANCE_INTERVAL_MS = 500

/** Ready streams of a site that nobody visits. */
export const READY_STREAMS_MIN = 2
/** Without a claim for this long the number of streams that are kept ready halves; those that are there stay. */
export const DEMAND_HALF_LIFE_MS = 60_000
/** A relay that had no room for ready streams is asked again after this. */
export const REJECTION_PAUSE_MS = 10_000
/** A ready stream that the relay ended unused is replaced after this. */
export const REPLACEMENT_PAUSE_MS = 1_000
/** Visitors' connections at once, unless told otherwise: idle ones take some 20 KB of a page each, and 60 KB in Node. */
export const CONNECTIONS_DEFAULT = 1024
/** … and the most that can be asked for: with those that are being closed they fit on {@link CARRIER_SOCKETS_MAX} WebSockets. */
export const CONNECTIONS_MAX = 3500
/** A connection that is idle for less is probably between two requests, or its first one is on its way: it stays. */
export const IDLE_MIN_MS = 250
/** A handshake, or the head of a request, that takes longer may be given up for another visitor. */
export const BEGINNING_MIN_MS = 5_000
/** Connections that are being closed for others come on top of the bound, up to this share of it, … */
export const LEAVING_SHARE = 0.125
/** … and this number in any case. */
export const LEAVING_MIN = 8
/** A visitor has so long to answer the end of its connection; then it may be broken off when others need its place, too. */
export const LEAVING_MS = 500
/** That connections were closed for others, or could not be, is told once in this time at most, … */
export const PRESSURE_INTERVAL_MS = 1_000
/** … and that none could be when it has been so for this long. */
export const FULL_TOLD_AFTER_MS = 500
/** What visitors who are here when the site closes get to finish: a short download, no long one. */
export const CLOSE_GRACE_MS = 5_000

/** First pause before connecting again, … */
export const BACKOFF_FIRST_MS = 250
/** … longer by this for each failure: a relay that restarts is found within half of its downtime, … */
export const BACKOFF_FACTOR = 1.5
/** … up to this. */
export const BACKOFF_MAX_MS = 30_000
/** A carrier that lived this long was healthy: the next failure starts from the first pause. */
export const STABLE_AFTER_MS = 10_000

/** Publishing waits that long for the code of HTTP/2; then the first visitors get HTTP/1.1. */
export const HTTP2_LOAD_DEADLINE_MS = 5_000
/** From activation to a finished TLS handshake; a visitor that is slower is dropped. */
export const TLS_HANDSHAKE_DEADLINE_MS = 15_000
/** Decrypted bytes that wait unread on one connection before reading pauses: the size of a yamux window. */
export const PLAINTEXT_WAITING_MAX_BYTES: number = 256 * 1024
/** Encrypted bytes that the carrier has not taken yet before writing, and reading on, pauses. */
export const CIPHERTEXT_WAITING_MAX_BYTES: number = 256 * 1024
/** A connection that is over gets this long to send its last bytes and to be ended by the visitor, too. */
export const CARRIER_LINGER_MS = 5_000
/** The certificate chain is fetched again on the first renewal after this. */
export const CHAIN_MAX_AGE_MS: number = 60 * 60_000
/** … and at once after a refused signature; when it is still the same, the next refusals do not ask again for this long. */
export const CHAIN_REFRESH_MIN_MS = 10_000
