// Holds the relay's own limits, which no client needs to know. Those of the contract are in @svc/protocol.

import { CACHE_FILES_MAX } from '@svc/protocol'

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
/** Difference between wall clock and monotonic clock that means that the wall clock was set: NTP slews both alike. */
export const WALL_CLOCK_STEP_MS = 1_000
/** Active leases. */
export const LEASES_MAX = 100_000
/** Leases that may expire in one turn of the event loop, at some 10 µs each: more would delay visitors. */
export const EXPIRIES_PER_TICK = 256
/** Open registration challenges of all clients. */
export const CHALLENGES_MAX = 10_000
/** `Retry-After` of a client that may have no more open challenges for now. Most are used within a round trip. */
export const CHALLENGES_RETRY_S = 2
/** Tokens whose verified signature the relay remembers, at about 1 KB each: two for each of 2,000 busy leases. */
export const VERIFIED_TOKENS_MAX = 4096
/** Bindings of all leases between activation and signature. The relay drops the oldest first. */
export const BINDINGS_MAX = 65_536
/** Decompressed Certificate message of a signing request. Chains have a few KB. */
export const CERTIFICATE_MESSAGE_MAX_BYTES: number = 64 * 1024
/** Age at which the relay renews a lease certificate, which is valid far longer. */
export const LEASE_CERTIFICATE_RENEWAL_MS: number = 30 * 86_400_000
/** Open connections of the redirect listener. With one more, the relay closes the oldest of them. */
export const REDIRECT_CONNECTIONS_MAX = 1024
/** The same from one network. The relay closes the one that exceeds it. */
export const REDIRECT_CONNECTIONS_PER_NETWORK_MAX = 64
/** Time of a request for a redirect, from its connection to the end of the answer. */
export const REDIRECT_DEADLINE_MS = 3_000
/** Fields of such a request that are read; the rest is passed over. */
export const REDIRECT_HEADERS_MAX = 128
/** Interval at which the relay looks whether its certificate ends soon. */
export const CERTIFICATE_CHECK_MS = 3_600_000
/** Time before the end of the relay's certificate from which it warns in the log. */
export const CERTIFICATE_WARNING_MS: number = 14 * 86_400_000
/** The same at most, as a share of the certificate's lifetime: what ends after six days is renewed when two are left. */
export const CERTIFICATE_WARNING_SHARE = 0.3
/** How long the relay signs for replaced certificates: twice the interval at which an SDK fetches the chain. */
export const PREVIOUS_CERTIFICATES_MS: number = 2 * 60 * 60_000
/** Time that visitors have to finish when the relay shuts down. Supervisors wait longer before they kill. */
export const DRAIN_MS = 10_000
/** After an unhandled error the process ends within this time, even if visitors have not finished. */
export const FATAL_DEADLINE_MS = 15_000
/** With this many unhandled errors the process ends at once. */
export const FATAL_ERRORS_MAX = 16
/** Time for one answer to `svc-relay healthcheck`, in milliseconds. Supervisors wait longer: Docker by default 30 s. */
export const HEALTH_DEADLINE_MS = 5_000
/** UTF-16 code units that `svc-relay healthcheck` reads of the answer, which has one line. */
export const HEALTH_RESPONSE_MAX_CHARS = 16_384
/** A PROXY header with its TLVs. They have a few hundred bytes, and nginx takes one page of memory, too. */
export const PROXY_HEADER_MAX_BYTES = 4096
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
/** The signer recovery thread ends when nobody has registered for so long, because it takes 25 MB. */
export const SIGNER_RECOVERY_IDLE_MS = 60_000
/** Signatures that wait for the signer recovery thread, at about 3 ms each. */
export const SIGNER_RECOVERIES_WAITING_MAX = 256
/** Time for one recovery. Beyond it the thread hangs: the relay ends it, and the next recovery starts another. */
export const SIGNER_RECOVERY_DEADLINE_MS = 10_000
/** The same for a thread that has not answered yet: a slow or busy machine takes seconds to load its code. */
export const SIGNER_RECOVERY_START_DEADLINE_MS = 30_000
/** Attempts to claim the state directory: what a killed relay has left is removed between two of them. */
export const CLAIM_ATTEMPTS_MAX = 3
/** Time for the relay that has the state directory to name its process. */
export const CLAIM_ANSWER_MS = 2_000
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
/** Log lines that wait while standard output takes none. */
export const LOG_PENDING_MAX_BYTES: number = 1024 * 1024
/** Interval at which the relay tries to write them again. */
export const LOG_RETRY_MS = 100
/** Time without changes after which the relay reads changed files again: a chain and its key are two files. */
export const RELOAD_DELAY_MS = 300
/** Connections to the metrics endpoint at once. */
export const METRICS_CONNECTIONS_MAX = 16
/** Time for one request to the metrics endpoint. */
export const METRICS_REQUEST_DEADLINE_MS = 5_000
/** Interval at which the relay tries again to write a state file. Each attempt is one small write. */
export const STATE_RETRY_MS = 5_000
/** A longer leases file is put aside unread: twice what the largest number of leases and reservations fills. */
export const JOURNAL_MAX_BYTES: number = 256 * 1024 * 1024
/**
 * Lines of the leases file beyond two for each reservation before the relay writes the file again. It leaves small
 * files alone.
 */
export const JOURNAL_SURPLUS_LINES_MAX = 1024
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
/** `Retry-After` of a request that needs what several machines share, while this one is cut off from it. */
export const SHARED_STATE_RETRY_S = 2
/** Bytes of a refused body that the relay reads and drops before it responds. */
export const DISCARDED_BODY_MAX_BYTES: number = 1024 * 1024
/**
 * The time for which it does so, in milliseconds: a body takes a round trip to arrive. The end of the response waits, so that the time is a
 * tenth of that for which a site's SDK keeps a stream of HTTP/2 open whose response has left (`DISCARDED_REQUEST_MS` there).
 */
export const DISCARDED_BODY_MS = 500
/**
 * Signatures that the relay verifies of tokens which name no active lease. Each takes some 0.6 ms of the thread that
 * serves visitors.
 */
export const UNKNOWN_LEASE_TOKENS_PER_MINUTE = 1200
/** The same at once. */
export const UNKNOWN_LEASE_TOKENS_BURST = 200
/**
 * Forged tokens that name the same active lease. Beyond it, the relay refuses unverified tokens of that lease. Only
 * its holder knows its id.
 */
export const FORGED_TOKENS_PER_MINUTE = 60
/** The same at once. */
export const FORGED_TOKENS_BURST = 100
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
/**
 * An IP address in a request's body, in UTF-16 code units, as all texts below: the relay refuses longer ones before
 * it matches a pattern. The longest is an IPv6 address of 45 with the name of an interface (15 on Linux) behind `%`.
 */
export const IP_MAX_CHARS = 64
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
/**
 * Metadata of all leases together, in UTF-16 code units. A code unit takes one byte, or two in texts beyond Latin-1.
 */
export const METADATA_TOTAL_MAX_CHARS: number = 128 * 1024 * 1024
/** A file of policy changes, some 15,000 of them. The relay puts it aside before it would be larger. */
export const AUDIT_FILE_MAX_BYTES: number = 4 * 1024 * 1024
/** Files of policy changes that are kept, the newest included. */
export const AUDIT_FILES_MAX = 4
/** Lines that wait while the disk takes none. The oldest is lost first. */
export const AUDIT_LINES_WAITING_MAX = 1024
/** Members of one list in policy.json whose addition or removal the audit log names one by one. */
export const AUDIT_MEMBERS_MAX = 100
/** An IPv6 address with a prefix length. */
export const NETWORK_MAX_CHARS: number = IP_MAX_CHARS + 4
/** Names that the operator reserves. */
export const RESERVED_NAMES_MAX = 1000
/** Values of a body with them, as {@link JSON_VALUES_MAX}. */
export const POLICY_VALUES_MAX: number = JSON_VALUES_MAX + RESERVED_NAMES_MAX
/** How long a friendly name stays reserved for its identity after its lease has ended. */
export const NAME_RESERVATION_MS: number = 10 * 60_000
/** Names that stay with their identities while a certificate for them is valid: as many as chains are kept. */
export const CERTIFIED_NAMES_MAX = 10_000
/** Those of one account that has no lease for them: as many as a person with some projects leaves behind. The oldest goes first. */
export const CERTIFIED_NAMES_PER_ACCOUNT_MAX = 16
/** The same of a wide network, where accounts cost nothing: a whole /48 takes a third of a hundredth of all. */
export const CERTIFIED_NAMES_PER_NETWORK_MAX = 32
/** Names whose last owner the relay remembers, to tell the next one. It forgets the oldest first: some 20 MB at most. */
export const FORMER_OWNERS_MAX = 65_536
/** A name is kept for a certificate until the next whole number of this many milliseconds. */
export const CERTIFIED_STEP_MS = 3_600_000
/** Time for which an order of a certificate keeps the name: it waits for others, and lasts half an hour at most. */
export const SITE_ORDER_MAX_MS: number = 24 * 3_600_000
/** The longest time for which a certificate keeps a name, in milliseconds: no authority issues longer ones (CA/Browser Forum, 2020). */
export const CERTIFIED_MAX_MS: number = 398 * 86_400_000
/**
 * Identities without a lease whose name or ports are reserved. The relay forgets the one whose lease ended longest
 * ago first.
 */
export const RESERVATIONS_MAX = 200_000
/** Recent changes of the policy that administrators can see. */
export const POLICY_CHANGES_MAX = 100
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
/** Time for a whole response to a request of the relay to another server, unless the caller sets another. */
export const OUTBOUND_DEADLINE_MS = 10_000
/** Body of such a response. */
export const OUTBOUND_RESPONSE_MAX_BYTES: number = 1024 * 1024
/** Interim responses (1xx) to one request of the relay. Servers that use them send one or two. */
export const INTERIM_RESPONSES_MAX = 8
/** Time for the first question to a name server about a name that a stranger chose. The second one has twice as much. */
export const STRANGERS_DNS_TIMEOUT_MS = 1_500
/** Addresses of such a name that are dialled, of each family: a name server may name thousands. */
export const STRANGERS_ADDRESSES_MAX = 2
/** Interval at which the relay determines its public addresses, so that its records follow a change within a minute. */
export const PUBLIC_ADDRESS_REFRESH_MS = 30_000
/** Addresses of one family that it publishes of those that it finds: each is a record of the host, and of each ENS name. */
export const PUBLIC_ADDRESSES_MAX = 4

/** On several machines a token is valid from this long before its issue, since their clocks differ. */
export const TOKEN_LEEWAY_S = 30
/** Leases whose sites a machine that leaves sends to the others in one turn, and the pause before the next ones: 5,000 a second. */
export const LEAVING_LEASES_AT_ONCE = 100
export const LEAVING_PAUSE_MS = 20
