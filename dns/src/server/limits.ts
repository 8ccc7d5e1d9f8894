// Holds the limits of the DNS server.

/** Bytes of a UDP answer at most, and what our OPT record says that we take (DNS Flag Day 2020: no fragments). */
export const UDP_PAYLOAD_MAX_BYTES = 1232
/** Bytes of a UDP answer to a query without EDNS (RFC 1035 §4.2.1). */
export const UDP_PAYLOAD_MIN_BYTES = 512
/** A UDP answer to an address that is not proved has at most this many times the bytes of its question. */
export const AMPLIFICATION_MAX = 10
/**
 * UDP answers a second to one network, a /24 or a /56, that shows no cookie of ours, of those that come from one name of the
 * zone. All names that a wildcard answers for are one, and so are all errors.
 */
export const ANSWERS_PER_SECOND = 200
/** The same at once. A resolver that starts asks for many names. */
export const ANSWERS_BURST = 1000
/** UDP answers a second to such a network, whatever name they come from. */
export const NETWORK_ANSWERS_PER_SECOND = 1000
/** The same at once. */
export const NETWORK_ANSWERS_BURST = 5000
/** Answers a second to one network that shows a cookie of ours or comes over TCP: more than a large resolver asks for. */
export const PROVEN_ANSWERS_PER_SECOND = 5000
/** The same at once. */
export const PROVEN_ANSWERS_BURST = 10_000
/** One in this many answers beyond the rate is sent, truncated: a resolver behind that address then asks over TCP. */
export const SLIP_EVERY = 2
/** Answers in the cache, in two generations of half of them each. An answer has at most some 2 KB. */
export const CACHED_ANSWERS_MAX = 16_384
/** Bytes of the cache. */
export const CACHED_ANSWERS_MAX_BYTES: number = 8 * 1024 * 1024
/** Milliseconds after which the cache begins anew, so that renewed signatures get out. */
export const CACHED_ANSWERS_MAX_AGE_MS = 300_000
/** Bytes that UDP answers may wait for the kernel to take them. The server drops more. */
export const UDP_SEND_QUEUE_MAX_BYTES: number = 1024 * 1024
/** Bytes of the kernel's receive buffer, as far as the system allows (`net.core.rmem_max`): some 2,000 queries. */
export const UDP_RECEIVE_BUFFER_BYTES: number = 4 * 1024 * 1024
/** Open TCP connections. With one more, the server closes the one that has been idle for the longest time. */
export const TCP_CONNECTIONS_MAX = 1024
/** The same from one network, a /24 or a /56. The server resets one more. */
export const TCP_CONNECTIONS_PER_NETWORK_MAX = 32
/** Milliseconds in which a connection has to send a whole query (RFC 7766 §6.2.3 wants seconds). */
export const TCP_IDLE_MS = 10_000
/** Milliseconds that a connection may last. A resolver with more questions connects again. */
export const TCP_LIFETIME_MS = 120_000
/** Bytes of one query over TCP. Larger ones are no queries: a name has 255 bytes, and options few more. */
export const TCP_QUERY_MAX_BYTES = 4096
/** Bytes of answers that a client has not read, beyond which the server reads no more of its queries. */
export const TCP_UNREAD_MAX_BYTES: number = 64 * 1024
/** Queries of one connection that the server answers before others have their turn. */
export const TCP_QUERIES_PER_TURN = 16
/** Addresses at which the server listens. */
export const LISTENING_ADDRESSES_MAX = 64
/** Interval at which the server looks at the addresses of the interfaces, and tries again what it could not bind. */
export const REBIND_INTERVAL_MS = 15_000
/** Seconds that a server cookie is good for, and that its time may be ahead of ours (RFC 9018 §4.3). */
export const COOKIE_LIFETIME_S = 3600
export const COOKIE_AHEAD_S = 300
/** Age in seconds from which a client gets a new one (RFC 9018 §4.3). */
export const COOKIE_RENEW_S = 1800
/** Seconds for which the secret of cookies is used. The one before it is good for another lifetime of a cookie. */
export const COOKIE_SECRET_S = 86_400
/** Interval at which the thread reports its counters. */
export const COUNTS_INTERVAL_MS = 2_000
/** Interval at which the server logs one error of the zone at most. */
export const ERROR_LOG_INTERVAL_MS = 60_000
/** Changes of the zone in one message to the thread. */
export const CHANGES_PER_MESSAGE = 1000
/** Milliseconds for the thread to start, to take changes, and to end. */
export const THREAD_DEADLINE_MS = 30_000
/** Milliseconds before a thread that broke is started again: the first time, and at most. */
export const RESTART_DELAY_MIN_MS = 1_000
export const RESTART_DELAY_MAX_MS = 60_000
/** MB of the thread's heap for new objects: it holds nothing else for long, and answers cost the same with more. */
export const YOUNG_GENERATION_MAX_MB = 8
