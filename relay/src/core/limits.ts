// Holds the relay's own limits, which no client needs to know. Those of the contract are in @svc/protocol.

import { CACHE_FILES_MAX } from '@svc/protocol'
import { RESERVED_NAMES_MAX } from './policy/reserved-names.ts'

/**
 * Connections of other relays to the overlay server that may be open at once, those that became bridges included; and
 * as many of this relay to others.
 */
export const OVERLAY_CONNECTIONS_MAX = 8192
/** File descriptors that are not for connections: files, listeners, threads and pipes. */
export const DESCRIPTORS_RESERVED = 256
/**
 * Share of the file descriptors beyond twice `DESCRIPTORS_RESERVED` that listeners of dedicated ports may take. The
 * rest is for connections.
 */
export const PORT_LISTENERS_SHARE = 0.25
/** Open connections of the redirect listener. With one more, the relay closes the oldest of them. */
export const REDIRECT_CONNECTIONS_MAX = 1024
/** The same from one network. The relay closes the one that exceeds it. */
export const REDIRECT_CONNECTIONS_PER_NETWORK_MAX = 64
/** Time of a request for a redirect, from its connection to the end of the answer. */
export const REDIRECT_DEADLINE_MS = 3_000
/** Fields of such a request that are read; the rest is passed over. */
export const REDIRECT_HEADERS_MAX = 128
/**
 * The factor by which the budget of a relay on the overlay exceeds that of a client: the sites whose routes go through it register from its
 * address. So twenty of them register in a minute, and all relays together stay within the budget of this one.
 */
export const PEER_BUDGET_FACTOR = 12
/**
 * Counters of a rate limit per network, 16 bytes each. Networks share them, so a flood of addresses takes no more
 * memory.
 */
export const RATE_LIMIT_SLOTS = 65_536
/**
 * Certificate requests of one identity, where `SOURCE_BUDGET_PER_MINUTE` is its default; they scale with it. A site asks
 * once in months, and once for each process where it keeps no key.
 */
export const CERTIFICATES_PER_IDENTITY: { perMinute: number; burst: number } = { perMinute: 1, burst: 10 }
/** The same from one network, which registers fewer leases in that time. */
export const CERTIFICATES_PER_NETWORK: { perMinute: number; burst: number } = { perMinute: 10, burst: 20 }
/**
 * Requests of one identity that ask for a certificate which is kept or under way. A site asks every second at first, and
 * every 30 s at last.
 */
export const CERTIFICATE_POLLS_PER_IDENTITY: { perMinute: number; burst: number } = {
  perMinute: 30,
  burst: 60,
}
/** The same from one network. Each costs the relay some 0.2 ms, for the signature of the request. */
export const CERTIFICATE_POLLS_PER_NETWORK: { perMinute: number; burst: number } = {
  perMinute: 600,
  burst: 600,
}
/**
 * Searches for sites at other relays, for visitors of one network, where `SOURCE_BUDGET_PER_MINUTE` is its default; they scale
 * with it. The page of `/go/` asks again after 5 s at the earliest, and results hold for as long.
 */
export const SITE_SEARCHES_PER_NETWORK: { perMinute: number; burst: number } = { perMinute: 30, burst: 4 }
/**
 * The same for all visitors of the relay, scaled by `RELAY_BUDGET_PER_MINUTE`. Each search asks up to 16 relays. Those for sites that
 * this relay has found before have as much of their own, which searches for invented sites do not take.
 */
export const SITE_SEARCHES: { perMinute: number; burst: number } = { perMinute: 120, burst: 30 }
/** Requests of one network about payments: a site asks three times for each of its visitors who pays. */
export const PAYMENT_REQUESTS_PER_NETWORK: { perMinute: number; burst: number } = {
  perMinute: 600,
  burst: 120,
}
/** The same of all networks. A signature takes some milliseconds of the processor to check. */
export const PAYMENT_REQUESTS: { perMinute: number; burst: number } = { perMinute: 3_000, burst: 300 }
/** Requests about payments that are answered at once: what the facilitator does. */
export const PAYMENT_REQUESTS_AT_ONCE = 128
/** The same of one network. */
export const PAYMENT_REQUESTS_AT_ONCE_PER_NETWORK = 32
/** Milliseconds that a full node has for an answer, in the relay's HTTP client: more than the facilitator gives it. */
export const PAYMENT_NODE_DEADLINE_MS = 20_000
/** Questions of one network whether the relay has a site. Another relay asks as often as it may search. */
export const SITE_QUESTIONS_PER_NETWORK: { perMinute: number; burst: number } = {
  perMinute: 240,
  burst: 120,
}
/** Units that unregistering gives back to a network in a minute. */
export const REFUND_PER_MINUTE = 60
/** The same at once: a page that is reloaded ten times. */
export const REFUND_BURST = 60
/** Time for a TLS handshake with the API, and for the head of each request. */
export const API_HEAD_DEADLINE_MS = 10_000
/** Interval at which the relay checks `API_HEAD_DEADLINE_MS`. */
export const API_DEADLINE_CHECK_MS = 2_000
/** Idle time of a kept-alive API connection: longer than the SDKs' gap between two signatures for one visitor. */
export const API_IDLE_MS = 60_000
/** When a client reads nothing of a response for this long, the relay cuts its connection. */
export const API_WRITE_DEADLINE_MS = 10_000
/** Bytes of the kernel's table of connections that the relay parses in one turn of the event loop, at some 0.5 ms. */
export const SEND_QUEUES_READ_BYTES: number = 64 * 1024
/** Requests of one connection that may wait for their responses. */
export const PIPELINED_REQUESTS_MAX = 16
/** Bytes of a body that the relay sends before the client has taken the previous ones. */
export const BODY_CHUNK_BYTES: number = 64 * 1024
/**
 * Bytes that response bodies on their way to one network may hold. Each holds two chunks of `BODY_CHUNK_BYTES`, one
 * of them encrypted.
 */
export const RESPONSE_BYTES_PER_NETWORK_MAX: number = 16 * 1024 * 1024
/** The same for all clients. */
export const RESPONSE_BYTES_MAX: number = 256 * 1024 * 1024
/** Response bodies up to this size do not count, since the kernel takes them whole. */
export const RESPONSE_UNCOUNTED_BYTES: number = 16 * 1024
/**
 * Files of the pages and the installer that are open at once, out of the descriptors that are not for connections.
 */
export const FILES_OPEN_MAX = 64
/** The file with the checksums of the installer's downloads; a longer one counts as none. Seven lines take 600 bytes. */
export const CHECKSUMS_MAX_BYTES: number = 16 * 1024
/**
 * Downloads of the installer that are being unpacked for clients of one network that do not accept gzip. Unpacking 168 MB
 * takes a second of one core, and 110 KB of memory while it lasts.
 */
export const UNPACKED_RESPONSES_PER_NETWORK_MAX = 2
/** The same for all clients. */
export const UNPACKED_RESPONSES_MAX = 16
/** One page of a list such as `/api/state`. It has as many items as fit, and at least one. */
export const LIST_PAGE_BYTES: number = 256 * 1024
/** Pages of one list that are cached or being sent. */
export const LIST_CACHE_MAX_BYTES: number = 16 * 1024 * 1024
/**
 * How often the relay renders the first page of a list again, at about a millisecond each. Beyond it the client gets
 * the cached page.
 */
export const FIRST_LIST_PAGE_RATE: { perMinute: number; burst: number } = { perMinute: 1_200, burst: 40 }
/** The same for all other pages together. */
export const OTHER_LIST_PAGE_RATE: { perMinute: number; burst: number } = { perMinute: 6_000, burst: 200 }
/** Smaller pages are not compressed. */
export const COMPRESSED_MIN_BYTES = 1024
/** Delay before a response `rate_limited`. It costs an honest client nothing, which waits longer anyway. */
export const RATE_LIMITED_DELAY_MS = 20
/**
 * Client addresses whose failed admin logins the relay remembers. It forgets the one that failed longest ago first.
 */
export const LOGIN_NETWORKS_MAX = 1024
/** Connections to the metrics endpoint at once. */
export const METRICS_CONNECTIONS_MAX = 16
/** Time for one request to the metrics endpoint. */
export const METRICS_REQUEST_DEADLINE_MS = 5_000
/** Connections to all dedicated TCP ports together. */
export const PORT_CONNECTIONS_MAX = 16_384
/** Connections to one dedicated TCP port. */
export const PORT_CONNECTIONS_PER_LEASE_MAX = 2048
/** Time for the first look at the relay's addresses, which dedicated ports name; a start waits for it no longer. */
export const PORT_HOST_FIND_MS = 3_000
/** Ports that the relay tries for one lease when other processes use them. */
export const PORT_ATTEMPTS_MAX = 64
/** How long the relay leaves a port alone that another process uses. */
export const PORT_IN_USE_RETRY_MS = 60_000
/** Depth of nested arrays and objects in a request's body. The deepest body of the contract has 3. */
export const JSON_DEPTH_MAX = 32
/** Values in a request's body, nested ones included. Bodies without a list of the contract have 40. */
export const JSON_VALUES_MAX = 512
/** The same of a manifest: each file has four, and as many again are for fields that the relay does not know. */
export const MANIFEST_VALUES_MAX: number = JSON_VALUES_MAX + 8 * CACHE_FILES_MAX
/**
 * Bytes in memory of the requests of clients without a token, from one network. Metadata of open challenges counts.
 */
export const UNAUTHENTICATED_BYTES_PER_NETWORK_MAX: number = 1024 * 1024
/** The same from all networks. */
export const UNAUTHENTICATED_BYTES_MAX: number = 64 * 1024 * 1024
/**
 * Bytes in memory of requests that came with the token of one lease: some hundred handshakes that wait for a
 * signature.
 */
export const AUTHENTICATED_BYTES_PER_LEASE_MAX: number = 4 * 1024 * 1024
/** The same for all leases. */
export const AUTHENTICATED_BYTES_MAX: number = 64 * 1024 * 1024
/** `Retry-After` of a request that is refused for its memory. Most bodies arrive within one round trip. */
export const BODY_MEMORY_RETRY_S = 2
/** Bytes of a refused body that the relay reads and drops before it responds. */
export const DISCARDED_BODY_MAX_BYTES: number = 1024 * 1024
/**
 * The time for which it does so, in milliseconds: a body takes a round trip to arrive. The end of the response waits, so that the time is a
 * tenth of that for which a site's SDK keeps a stream of HTTP/2 open whose response has left (`DISCARDED_REQUEST_MS` there).
 */
export const DISCARDED_BODY_MS = 500
/** Default of `STATIC_CACHE_TTL_MAX`: how long a snapshot is served without its site, in seconds. */
export const CACHE_TTL_MAX_S = 86_400
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
/** The largest `cache_ttl` that a lease keeps, in seconds: the largest number that a setting can have. */
export const CACHE_TTL_REQUEST_MAX_S = 999_999_999
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
/** Bytes of a part of an upload before its content: the boundary and the headers. */
export const CACHE_PART_HEAD_MAX_BYTES = 1024
/**
 * Seconds for which requests of one identity may occupy the places of uploads and checks, where `SOURCE_BUDGET_PER_MINUTE` is
 * its default; they scale with it. A request that lasts longer than what is left is paid for by those after it.
 */
export const CACHE_SECONDS_PER_IDENTITY: { perMinute: number; burst: number } = { perMinute: 30, burst: 150 }
/** The same from one network: half of the places for uploads. */
export const CACHE_SECONDS_PER_NETWORK: { perMinute: number; burst: number } = { perMinute: 60, burst: 300 }
/** Seconds that each such request costs at least: what it takes to parse a large manifest, several times. */
export const CACHE_SECONDS_MIN = 0.1
/**
 * The time, in milliseconds, by which a snapshot may end later than its record says, so that a renewal seldom writes the
 * record. After a crash the snapshot may end so much earlier.
 */
export const CACHE_RECORD_LAG_MS = 60_000
/** A lease name, with blanks around it that the relay strips. */
export const NAME_TEXT_MAX_CHARS = 64
/** An Ethereum address: `0x` and 40 digits. */
export const ADDRESS_TEXT_MAX_CHARS = 42
/** An identity key: name, colon and address. */
export const IDENTITY_KEY_MAX_CHARS: number = NAME_TEXT_MAX_CHARS + 1 + ADDRESS_TEXT_MAX_CHARS
/** Key ids, challenge ids and enumerated words. */
export const SHORT_TEXT_MAX_CHARS = 64
/**
 * A Sign-In with Ethereum message. The SDKs sign no longer one either. It has the root host, of at most 253
 * characters, twice.
 */
export const SIWE_MESSAGE_MAX_CHARS = 2048
/** `0x` and 130 digits. The bound leaves room for texts that are a wrong signature and not a malformed request. */
export const SIWE_SIGNATURE_MAX_CHARS = 256
export const URL_MAX_CHARS = 2048
/** Longer than any token of this relay. */
export const TOKEN_TEXT_MAX_CHARS = 8192
/** A field of a hop route. The longest are origins and hostnames. */
export const HOP_FIELD_MAX_CHARS = 512
/** One handshake message for `/v1/sign`: as long as a ClientHello may be. */
export const SIGN_MESSAGE_MAX_BYTES: number = 64 * 1024
/** Values of a body with them, as {@link JSON_VALUES_MAX}. */
export const POLICY_VALUES_MAX: number = JSON_VALUES_MAX + RESERVED_NAMES_MAX
/** Time for which an order of a certificate keeps the name: it waits for others, and lasts half an hour at most. */
export const SITE_ORDER_MAX_MS: number = 24 * 3_600_000
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
/** Delay before a worker process that died is started again. It doubles each time. */
export const WORKER_BACKOFF_MS = 200
/** Longest such delay. A worker process that has lived as long begins with the shortest one again. */
export const WORKER_BACKOFF_MAX_MS = 30_000
/** Time for a worker process to end, beyond what its last responses have. Then it is killed. */
export const WORKER_END_DEADLINE_MS = 2_000
/** Connections to the API that one worker process forwards to the primary process at once. It closes one more. */
export const FORWARDED_CONNECTIONS_MAX = 4_096
/** Interval at which the relay determines its public addresses, so that its records follow a change within a minute. */
export const PUBLIC_ADDRESS_REFRESH_MS = 30_000
/** Addresses of one family that it publishes of those that it finds: each is a record of the host, and of each ENS name. */
export const PUBLIC_ADDRESSES_MAX = 4
