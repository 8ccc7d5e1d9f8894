// The limits of this package, each with its unit and reason; the protocol's limits are in @svc/protocol.

import { CHALLENGE_TTL_S } from '@svc/protocol'

/**
 * The deadline of one request to the control plane, from connect to last byte: longer than the relay ever
 * needs, but shorter than a lease.
 */
export const CONTROL_DEADLINE_MS = 15_000
/**
 * The time for which the SDK reuses a signed challenge when the relay asked it to wait: the challenge's life, less
 * the time to reach the relay.
 */
export const PROOF_REUSE_MS: number = (CHALLENGE_TTL_S - 20) * 1000
/** The deadline of a request to unregister. It may fail, since a lease expires anyway. */
export const UNREGISTER_DEADLINE_MS = 5_000
/** The deadline of a request to `/v1/sign`: a later signature would miss the handshake's own deadline. */
export const SIGN_DEADLINE_MS = 8_000
/**
 * The pause before the SDK repeats a request for a signature when the connection broke: by then it has noticed other
 * connections that broke at the same moment.
 */
export const SIGN_RETRY_PAUSE_MS = 50
/** The largest answer of the control plane, in bytes. A certificate chain, the largest, has a few kilobytes. */
export const RESPONSE_MAX_BYTES: number = 256 * 1024
/** The most certificates of a chain: the leaf, its intermediates and a few to spare. */
export const CHAIN_MAX_CERTIFICATES = 10
/** The number of endpoints that the SDK refuses before it gives up: a relay with gateways names the direct one last. */
export const ENDPOINTS_REFUSED_MAX = 4
/** The longest token: that of a capability frame, because it must also fit into headers. */
export const ACCESS_TOKEN_MAX_CHARS = 8192
/** A longer `Retry-After` is reduced to this, since the site would look dead. */
export const RETRY_AFTER_MAX_MS: number = 5 * 60_000

/** The pause before the SDK retries a failed renewal: six retries in the second half of the shortest usual lease. */
export const RENEWAL_RETRY_MS = 10_000
/**
 * The pause before the SDK retries a renewal without an answer, or up to half less at random: one connection, or one machine of the
 * relay, may be all that broke. Each further failure doubles it, up to {@link RENEWAL_RETRY_MS}.
 */
export const RENEWAL_RETRY_FIRST_MS = 1_000

/** The delay of the first renewal at a relay with discovery. It carries the statement by which other relays lead visitors there. */
export const STATEMENT_DELAY_MS = 500

/**
 * When a clock jumps by more than this, it was set or the machine slept. The SDK then renews the lease, and learns the
 * relay's time from it.
 */
export const CLOCK_LEAP_MS = 5_000

/**
 * The time for which a returning site may ask whether the relay still lets visitors in, before it counts as online.
 */
export const APPROVAL_CHECK_DEADLINE_MS = 1_000

/** The deadline for opening a WebSocket, with DNS and TLS. */
export const CONNECT_DEADLINE_MS = 10_000
/** Sending pauses when this much is buffered in the WebSocket: enough for 100 MB/s at 10 ms. */
export const BUFFERED_AMOUNT_MAX_BYTES: number = 1024 * 1024
/**
 * The interval between checks of a full WebSocket: the shortest that browsers allow (HTML, "Timers"). Incoming
 * messages also trigger a check, so throttled timers do not matter.
 */
export const DRAIN_POLL_MS = 4
/** The SDK pings a WebSocket after this much silence: the relay writes a keepalive at least every 15 s. */
export const SILENCE_MAX_MS = 12_000
/** Incoming bytes restart the watchdog's timer at most this often. */
export const WATCH_RENEW_MS = 2_000
/** A connection is dead when a ping is unanswered for this long: with the silence before it, 16 s after the last byte. */
export const PING_DEADLINE_MS = 4_000
/** When a timer fires later than this after its time, the machine slept. Timers of hidden pages are up to 1 s late. */
export const SLEPT_MS = 3_000

/** The SDK measures sending and round trips for this long before it calls a connection saturated. */
export const LOAD_WINDOW_MS = 1_000
/** A connection is saturated when its buffer was full for this share of {@link LOAD_WINDOW_MS}. */
export const LOAD_FULL_SHARE = 0.5
/**
 * A round trip is slow when it takes this many times the shortest one, and at least {@link LOAD_RTT_MIN_MS}.
 */
export const LOAD_RTT_FACTOR = 4
/** A round trip shorter than this is never slow: the page's own work may have delayed it. */
export const LOAD_RTT_MIN_MS = 200
/**
 * The most connections of a site: half of what a relay allows, so that old ones may linger there while a site
 * reconnects.
 */
export const CARRIER_CONNECTIONS_MAX = 4
/** The most streams of one connection: a relay takes 1,024, and counts ending ones a little longer. */
export const CONNECTION_STREAMS_MAX = 1000
/** The carrier opens another connection when each has this many streams, so that the next visitors do not wait for it. */
export const CONNECTION_STREAMS_MANY = 768
/**
 * One connection may go when the others would then have less than this share of {@link CONNECTION_STREAMS_MANY} streams
 * each.
 */
export const SCALE_DOWN_STREAMS_SHARE = 0.5
/** The pause between two additional connections: the first has to take effect. */
export const SCALE_UP_PAUSE_MS = 3_000
/** After this long without saturation, one connection retires: it gets no more streams. */
export const SCALE_DOWN_IDLE_MS = 60_000
/** Traffic makes a carrier check its load and its ready streams at most this often. */
export const MAINTENANCE_INTERVAL_MS = 500

/** A site without visitors keeps this many streams ready. */
export const READY_STREAMS_MIN = 2
/** After this long without a claim, the number of streams kept ready halves. Streams that are open stay. */
export const DEMAND_HALF_LIFE_MS = 60_000
/** The SDK asks a relay that had no room for ready streams again after this. */
export const REJECTION_PAUSE_MS = 10_000
/** The SDK replaces a ready stream that the relay ended unused after this, or a random half less. */
export const REPLACEMENT_PAUSE_MS = 1_000
/**
 * The default limit of visitors' connections. An idle one takes about 20 KB in a page, and 60 KB in
 * Node.
 */
export const CONNECTIONS_DEFAULT = 1024
/**
 * The largest `maxConnections`: together with connections that are being closed, they fit on
 * {@link CARRIER_CONNECTIONS_MAX} connections.
 */
export const CONNECTIONS_MAX = 3500
/**
 * A connection that was idle for less than this is not closed for another: it is probably between two requests, or
 * its first one is on its way.
 */
export const IDLE_MIN_MS = 250
/** A handshake or a request head that takes longer than this may be aborted for another visitor. */
export const BEGINNING_MIN_MS = 5_000
/**
 * Connections that are being closed for others may exceed the limit by this share of it, or by
 * {@link LEAVING_MIN} if that is more.
 */
export const LEAVING_SHARE = 0.125
/** At least this many connections may be closing for others at once. */
export const LEAVING_MIN = 8
/**
 * The time that a visitor has to answer the end of its connection. Then the SDK may abort it when others need the slot.
 */
export const LEAVING_MS = 500
/** The shortest interval between reports that the SDK closed connections for others, or could close none. */
export const PRESSURE_INTERVAL_MS = 1_000
/** The SDK reports a full site when it has been full for this long. */
export const FULL_TOLD_AFTER_MS = 500
/** The time that connected visitors have to finish when the site closes: enough for a short download. */
export const CLOSE_GRACE_MS = 5_000

/** The first pause before the SDK connects again. */
export const BACKOFF_FIRST_MS = 250
/**
 * Each failure multiplies the next pause by this: the SDK finds a restarted relay within half of its
 * downtime.
 */
export const BACKOFF_FACTOR = 1.5
/** The longest pause before the SDK connects again. */
export const BACKOFF_MAX_MS = 30_000
/**
 * The pause after the loss of a carrier is longer by a random part of this: sites that lost one machine together reach
 * the next one after another, and each has time for more attempts within three seconds.
 */
export const LOSS_SPREAD_MS = 750
/** A carrier that lived this long was healthy: the next failure starts from {@link BACKOFF_FIRST_MS}. */
export const STABLE_AFTER_MS = 10_000

/** The time for which `publish` waits for the code of HTTP/2. After that the first visitors get HTTP/1.1. */
export const HTTP2_LOAD_DEADLINE_MS = 5_000
/** The deadline of a visitor's TLS handshake, from activation. */
export const TLS_HANDSHAKE_DEADLINE_MS = 15_000
/**
 * Reading from a visitor pauses when its connection has this many unread decrypted bytes: the size of a yamux window.
 */
export const PLAINTEXT_WAITING_MAX_BYTES: number = 256 * 1024
/** Writing to a visitor, and reading from it, pauses when this many encrypted bytes wait for the carrier. */
export const CIPHERTEXT_WAITING_MAX_BYTES: number = 256 * 1024
/** The SDK frees the memory of sent encrypted bytes at once when there are this many: less is not worth the call. */
export const FREED_MIN_BYTES: number = 8 * 1024
/** The time that an ended connection has to send its last bytes, and the visitor to end it too. */
export const CARRIER_LINGER_MS = 5_000
/** The SDK fetches the certificate chain again on the first renewal after this. */
export const CHAIN_MAX_AGE_MS: number = 60 * 60_000
/**
 * After a refused signature the SDK fetches the chain at once. When it is unchanged, further refusals cause no fetch
 * for this long.
 */
export const CHAIN_REFRESH_MIN_MS = 10_000

/**
 * The time that a visitor waits for a site without its first certificate: as long as a relay lets
 * visitors wait for a session.
 */
export const CERTIFICATE_VISITOR_WAIT_MS = 10_000
