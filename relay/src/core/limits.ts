// Holds the relay's own limits, which no client needs to know. Those of the contract are in @svc/protocol.

/** Open connections of the redirect listener. With one more, the relay closes the oldest of them. */
export const REDIRECT_CONNECTIONS_MAX = 1024
/** The same from one network. The relay closes the one that exceeds it. */
export const REDIRECT_CONNECTIONS_PER_NETWORK_MAX = 64
/** Time of a request for a redirect, from its connection to the end of the answer. */
export const REDIRECT_DEADLINE_MS = 3_000
/** Fields of such a request that are read; the rest is passed over. */
export const REDIRECT_HEADERS_MAX = 128
/** Requests about payments that are answered at once: what the facilitator does. */
export const PAYMENT_REQUESTS_AT_ONCE = 128
/** The same of one network. */
export const PAYMENT_REQUESTS_AT_ONCE_PER_NETWORK = 32
/** Milliseconds that a full node has for an answer, in the relay's HTTP client: more than the facilitator gives it. */
export const PAYMENT_NODE_DEADLINE_MS = 20_000
/** The file with the checksums of the installer's downloads; a longer one counts as none. Seven lines take 600 bytes. */
export const CHECKSUMS_MAX_BYTES: number = 16 * 1024
/**
 * Downloads of the installer that are being unpacked for clients of one network that do not accept gzip. Unpacking 168 MB
 * takes a second of one core, and 110 KB of memory while it lasts.
 */
export const UNPACKED_RESPONSES_PER_NETWORK_MAX = 2
/** The same for all clients. */
export const UNPACKED_RESPONSES_MAX = 16
/** Connections to the metrics endpoint at once. */
export const METRICS_CONNECTIONS_MAX = 16
/** Time for one request to the metrics endpoint. */
export const METRICS_REQUEST_DEADLINE_MS = 5_000
/** Connections to one dedicated TCP port. */
export const PORT_CONNECTIONS_PER_LEASE_MAX = 2048
/** Time for the first look at the relay's addresses, which dedicated ports name; a start waits for it no longer. */
export const PORT_HOST_FIND_MS = 3_000
/** Ports that the relay tries for one lease when other processes use them. */
export const PORT_ATTEMPTS_MAX = 64
/** How long the relay leaves a port alone that another process uses. */
export const PORT_IN_USE_RETRY_MS = 60_000
/**
 * The cache counts files in whole blocks of the usual size. A budget in bytes of content would let many small files take
 * far more of the disk than the operator allowed.
 */
export const CACHE_DISK_BLOCK_BYTES = 4096
/** Files of one upload that are written through to the disk at once. */
export const CACHE_SYNCS_MAX = 8
/** Stored files that are compared with their hashes at once, when the relay starts. */
export const CACHE_CHECKED_AT_ONCE = 8
/** A compressed form is kept if it has at most this share of the file's bytes. */
export const CACHE_FORM_SHARE_MAX = 0.9
/** Headers of one part of an upload to the cache. Browsers send two. */
export const PART_HEADERS_MAX = 8
/** Bytes of their names and values. */
export const PART_HEADERS_MAX_BYTES: number = 4 * 1024
/** Bytes in a row of an upload to the cache that are no content of a part. */
export const PART_OVERHEAD_MAX_BYTES: number = 64 * 1024
/** Snapshots that the static cache has, one of each identity. */
export const CACHE_SNAPSHOTS_MAX = 128
/**
 * Share of the snapshots, and of their bytes, that a network (an IPv4 /24 or an IPv6 /48) has for itself. What it has beyond that
 * makes room for those who have less.
 */
export const CACHE_NETWORK_SHARE: number = 1 / 16
/**
 * A snapshot within that share stays for this many milliseconds after a visitor, or its site, has last used it, even when another one needs room.
 */
export const CACHE_KEPT_UNUSED_MS: number = 60 * 60_000
/**
 * The time, in milliseconds, for which responses that have begun may go on when a snapshot is gone: the relay must not end TLS for the
 * site any more. It is enough for the largest file at 1.4 Mbit/s.
 */
export const CACHE_CLOSING_MAX_MS = 60_000
/** Sites that the cache remembers meanwhile, so that a ban ends those responses too. */
export const CACHE_CLOSING_SITES_MAX = 1024
/** Uploads of snapshots that are under way at once, one of each identity. */
export const CACHE_UPLOADS_MAX = 2
/** Manifests that are read and compared at once, one of each identity. */
export const CACHE_CHECKS_MAX = 2
/** `Retry-After` of a request to the static cache that is refused, because others are under way or the cache is full. */
export const CACHE_RETRY_S = 5
/** Share of `STATIC_CACHE_BYTES` that the files of one snapshot may take. */
export const CACHE_EXPOSURE_SHARE = 0.25
/**
 * The time, in milliseconds, by which a snapshot may end later than its record says, so that a renewal seldom writes the
 * record. After a crash the snapshot may end so much earlier.
 */
export const CACHE_RECORD_LAG_MS = 60_000
/** Interval at which a worker process reports its counters. */
export const WORKER_REPORT_MS = 250
/**
 * Visitors for each of whom the bytes are summed in one such report, at about 1 µs each: with more of them, the bytes are in
 * every second report, or every third.
 */
export const TRAFFIC_VISITORS_PER_REPORT = 1_000
/**
 * Messages on their way to one worker process. The primary process kills a worker process that takes none when there
 * are more.
 */
export const WORKER_MESSAGES_MAX = 65_536
/** Leases in one message to a new worker process. */
export const WORKER_LEASES_PER_MESSAGE = 256
/** Interval at which the primary process pings each worker process. */
export const WORKER_PING_MS = 5_000
/** The primary process kills a worker process that has not answered for this long. */
export const WORKER_PING_DEADLINE_MS = 15_000
/** Time for a worker process to end, beyond what its last responses have. Then it is killed. */
export const WORKER_END_DEADLINE_MS = 2_000
/** Connections to the API that one worker process forwards to the primary process at once. It closes one more. */
export const FORWARDED_CONNECTIONS_MAX = 4_096
/** Interval at which the relay determines its public addresses, so that its records follow a change within a minute. */
export const PUBLIC_ADDRESS_REFRESH_MS = 30_000
/** Addresses of one family that it publishes of those that it finds: each is a record of the host, and of each ENS name. */
export const PUBLIC_ADDRESSES_MAX = 4
