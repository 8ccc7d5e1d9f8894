// The limits of the DNS server.

/** The largest UDP answer, in bytes, and the payload size in our OPT record (DNS Flag Day 2020: no fragments). */
export const UDP_PAYLOAD_MAX_BYTES = 1232
/** The largest UDP answer to a query without EDNS, in bytes (RFC 1035 §4.2.1). */
export const UDP_PAYLOAD_MIN_BYTES = 512
/** The largest amplification: UDP answers to unproven addresses are at most this many times as large as the question. */
export const AMPLIFICATION_MAX = 10
/**
 * UDP answers per second, from one name of the zone, to a network (a /24 or /56) without our cookie. All
 * names of a wildcard count as one, and so do all errors.
 */
export const ANSWERS_PER_SECOND = 200
/** The same in a burst: a starting resolver queries many names. */
export const ANSWERS_BURST = 1000
/** UDP answers per second to such a network, from all names. */
export const NETWORK_ANSWERS_PER_SECOND = 1000
/** The same at once. */
export const NETWORK_ANSWERS_BURST = 5000
/** Answers per second to a network with our cookie or over TCP: more than a large resolver needs. */
export const PROVEN_ANSWERS_PER_SECOND = 5000
/** The same at once. */
export const PROVEN_ANSWERS_BURST = 10_000
/** One in this many answers beyond the rate is sent truncated, so that a real resolver retries over TCP. */
export const SLIP_EVERY = 2
/** The most answers in the cache, in two generations of half each. An answer has at most about 2 KB. */
export const CACHED_ANSWERS_MAX = 16_384
/** The largest size of the cache, in bytes. */
export const CACHED_ANSWERS_MAX_BYTES: number = 8 * 1024 * 1024
/** The interval at which the cache is cleared, in milliseconds, so that renewed signatures are sent. */
export const CACHED_ANSWERS_MAX_AGE_MS = 300_000
/** The most bytes of UDP answers that wait for the kernel. The server drops more. */
export const UDP_SEND_QUEUE_MAX_BYTES: number = 1024 * 1024
/** The kernel's receive buffer, in bytes, if the system allows it (`net.core.rmem_max`): about 2,000 queries. */
export const UDP_RECEIVE_BUFFER_BYTES: number = 4 * 1024 * 1024
/** The most open TCP connections. For one more, the server closes the longest idle one. */
export const TCP_CONNECTIONS_MAX = 1024
/** The most from one network, a /24 or a /56. The server resets further ones. */
export const TCP_CONNECTIONS_PER_NETWORK_MAX = 32
/** The deadline for a connection to send a complete query, in milliseconds (RFC 7766 §6.2.3 recommends seconds). */
export const TCP_IDLE_MS = 10_000
/** The longest life of a connection, in milliseconds. A resolver with more queries reconnects. */
export const TCP_LIFETIME_MS = 120_000
/** The largest query over TCP, in bytes: a name has up to 255 bytes, and options are short. */
export const TCP_QUERY_MAX_BYTES = 4096
/** The bytes of unread answers beyond which the server stops reading a client's queries. */
export const TCP_UNREAD_MAX_BYTES: number = 64 * 1024
/** How many queries of one connection the server answers before others get a turn. */
export const TCP_QUERIES_PER_TURN = 16
/** The most addresses to listen at. */
export const LISTENING_ADDRESSES_MAX = 64
/** The interval at which the server checks the interfaces' addresses and retries failed binds. */
export const REBIND_INTERVAL_MS = 15_000
/** The validity of a server cookie, in seconds, and how far its time may be ahead of ours (RFC 9018 §4.3). */
export const COOKIE_LIFETIME_S = 3600
export const COOKIE_AHEAD_S = 300
/** The age at which a client gets a new one, in seconds (RFC 9018 §4.3). */
export const COOKIE_RENEW_S = 1800
/** How long a cookie secret is used, in seconds. The previous one remains valid for one more cookie lifetime. */
export const COOKIE_SECRET_S = 86_400
/** Interval at which the thread reports its counters. */
export const COUNTS_INTERVAL_MS = 2_000
/** The shortest interval between logged errors of the zone. */
export const ERROR_LOG_INTERVAL_MS = 60_000
/** The most zone changes in one message to the thread. */
export const CHANGES_PER_MESSAGE = 1000
/** The deadline for the thread to start, to apply changes, and to end, in milliseconds. */
export const THREAD_DEADLINE_MS = 30_000
/** The first and the longest delay before a crashed thread is restarted, in milliseconds. */
export const RESTART_DELAY_MIN_MS = 1_000
export const RESTART_DELAY_MAX_MS = 60_000
/** The thread's young generation, in MB: most of its objects are short-lived, and more does not make answers cheaper. */
export const YOUNG_GENERATION_MAX_MB = 8
