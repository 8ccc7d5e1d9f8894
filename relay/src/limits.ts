// The relay's own numbers: bounds that no client needs to know. Those of the contract are in @svc/protocol.

/** Public and API connections open at once, … */
export const CONNECTIONS_MAX = 16_384
/** … of one source, a /64 counting as one, … */
export const CONNECTIONS_PER_NETWORK_MAX = 4096
/** … and of those that have not said yet whom they want: with one more, the oldest of them goes; … */
export const SILENT_CONNECTIONS_MAX = 4096
/** … with one more of the same source, that one. */
export const SILENT_CONNECTIONS_PER_NETWORK_MAX = 1024
/**
 * Connections that the kernel keeps until they are accepted, if the system allows (`net.core.somaxconn`). All of them are
 * accepted in one turn of the event loop, at some 60 µs each: more would hold up those who are here.
 */
export const BACKLOG = 512
/** Descriptors that are not for connections: files, listeners, threads and pipes. */
export const DESCRIPTORS_RESERVED = 256
/** Of the descriptors beyond twice those, this share is for listeners of dedicated ports: what they leave is for connections. */
export const PORT_LISTENERS_SHARE = 0.25
/** How often the process looks at whether it keeps up, … */
export const OVERLOAD_SAMPLE_MS = 100
/** … and how late it has to be, smoothed over a second, or how full its heap, to turn newcomers away. */
export const OVERLOAD_DELAY_MS = 250
export const OVERLOAD_HEAP_SHARE = 0.8
/** Visitors of one lease that wait for a ready session at once, … */
export const WAITING_CLAIMS_MAX = 1024
/** … and of those, the ones from one source, a /64 counting as one; one more is turned away at once. */
export const WAITING_CLAIMS_PER_NETWORK_MAX = 256
/** While others wait, a source has this share of the visitors that a lease has at all, … */
export const NETWORK_VISITORS_SHARE = 0.25
/** … but always so many. */
export const NETWORK_VISITORS_MIN = 16
/** A visitor who waits this long makes a source with more than its share give way, and again each time. */
export const DISPLACE_VISITOR_AFTER_MS = 1_000
/** Sessions that a visitor gets after the first one, where each broke before it answered the ClientHello. */
export const CLAIM_RETRIES_MAX = 2
/**
 * Sessions of one lease that may break so in a minute: beyond it no new ones are taken until that rate is met again. At
 * some 2 ms of the relay for a native session, its TLS handshake included, a site that answers nobody costs it 0.4 %.
 */
export const SESSIONS_LOST_PER_MINUTE = 120
/** … and at once. */
export const SESSIONS_LOST_BURST = 60
/** Of both, what visitors of one source may cause: beyond it they get no session of that lease. */
export const SESSIONS_LOST_NETWORK_SHARE = 0.25
/** A difference between wall and monotonic clock that somebody made by setting the former: NTP slews both alike. */
export const WALL_CLOCK_STEP_MS = 1_000
/** The longest that Node's timers wait for. */
export const TIMER_MAX_MS: number = 2 ** 31 - 1
/** Active leases. */
export const LEASES_MAX = 100_000
/** Leases that expire in one turn of the event loop, at some 10 µs each: with more the relay would stutter. */
export const EXPIRIES_PER_TICK = 256
/** Open registration challenges of all sources. */
export const CHALLENGES_MAX = 10_000
/** Tokens whose signature is not checked again, at about 1 KB each: the two that each of 2,000 busy leases shows. */
export const VERIFIED_TOKENS_MAX = 4096
/** Bindings between activation and signature, of all leases; the oldest go first. */
export const BINDINGS_MAX = 65_536
/** A Certificate message whose signature is asked for, decompressed: chains have a few KB. */
export const CERTIFICATE_MESSAGE_MAX_BYTES: number = 64 * 1024
/** A lease gets another certificate of its own after this long; it is valid for far longer. */
export const LEASE_CERTIFICATE_RENEWAL_MS: number = 30 * 86_400_000
/** Replaced certificates still sign for this long: twice what an SDK lets pass before it fetches the chain again. */
export const PREVIOUS_CERTIFICATES_MS: number = 2 * 60 * 60_000
/** Keepalives written in one turn of the event loop, at some 20 µs each. */
export const KEEPALIVES_PER_TICK = 128
/** WebSockets of one lease: one is enough, a few overlap while a page reconnects or spreads its load. */
export const CARRIERS_PER_LEASE_MAX = 8
/** Streams of one WebSocket, ready and bridged ones together. */
export const CARRIER_STREAMS_MAX = 1024
/** … and of those, the ones that have not shown their capability yet, or were rejected and are not over. */
export const HALF_OPEN_STREAMS_MAX = 64
/**
 * Fragments of one WebSocket message, and pieces in which it comes: each costs some 200 bytes beside its own. A message of
 * 1 MiB in TLS records that fill one packet each has 750.
 */
export const WEBSOCKET_FRAGMENTS_MAX = 4096
/**
 * What one WebSocket may make the relay hold: what came for visitors who do not read, and what visitors sent that it does
 * not take. 256 visitors who stopped reading have a first window of 256 KiB each.
 */
export const SESSION_MEMORY_MAX_BYTES: number = 64 * 1024 * 1024
/** The same for all WebSockets of one lease, … */
export const SESSION_MEMORY_PER_LEASE_MAX_BYTES: number = 96 * 1024 * 1024
/** … of all clients of one source, a /64 counting as one, … */
export const SESSION_MEMORY_PER_NETWORK_MAX_BYTES: number = 128 * 1024 * 1024
/** … and of all, as a share of the heap that the process may have. */
export const SESSION_MEMORY_HEAP_SHARE = 0.25
/** Receive windows grow while less than this share of each of the four bounds is held. */
export const SESSION_MEMORY_GROWTH_SHARE = 0.5
/** Beyond a bound so much is freed that this share of it is left. */
export const SESSION_MEMORY_RELIEF_SHARE = 0.875
/** What a bridge takes of a stream in one read: a little more than the SDKs send in one frame. */
export const STREAM_READ_MAX_BYTES: number = 80 * 1024
/** Bytes given to a WebSocket that the kernel has not taken yet, beyond which its sender waits. */
export const WEBSOCKET_BUFFERED_MAX_BYTES: number = 1024 * 1024
/** An answer to a ping may take this long on a WebSocket on which nothing else comes either. */
export const CARRIER_PING_DEADLINE_MS = 5_000
/** A visitor who got no answer for this long makes the relay ask the page's WebSocket for a sign of life, … */
export const CARRIER_PROBE_AFTER_MS = 500
/** … and one on which nothing comes for this long then is silent: the visitor is told two seconds after it came. */
export const CARRIER_PROBE_DEADLINE_MS = 1_500
/** A claimed session has to answer the visitor's ClientHello by then: as long as the page's own handshake may take. */
export const FIRST_BYTE_DEADLINE_MS = 15_000
/**
 * What a bridge passes on in one turn of the event loop and direction, so that the others have theirs soon; and with it
 * the size of the buffer that all bridged sockets are read into, for one read brings no more.
 */
export const BRIDGE_TICK_MAX_BYTES: number = 256 * 1024
/** One read of a socket whose identity has a rate: its connections share that in pieces that are no larger. */
export const LIMITED_READ_MAX_BYTES: number = 16 * 1024
/** TLS records that leave in one write, and a turn's share where they come from: twice as much gains nothing. */
export const COALESCE_BYTES: number = 64 * 1024
/** Buffers for that which are kept while nobody uses them: 4 MiB. */
export const COALESCE_BUFFERS_SPARE_MAX = 64
/** Whether sockets can be read that way is found out at the start, over a connection of the relay to itself. */
export const READ_BUFFER_PROBE_DEADLINE_MS = 1_000
/** A carrier that is told to close is cut after this. */
export const CARRIER_CLOSE_DEADLINE_MS = 2_000
/** What visitors get to finish when the relay is told to stop: what supervisors allow before they kill is more. */
export const DRAIN_MS = 10_000
/** The last answers and close frames have this long to leave. */
export const CLOSE_GRACE_MS = 1_000
/** After an error that nothing handles the process has ended by then, however its visitors fare, … */
export const FATAL_DEADLINE_MS = 15_000
/** … and at once with so many of them. */
export const FATAL_ERRORS_MAX = 16
/** TCP keep-alive probes on public connections begin after this much silence, so that vanished peers end. */
export const TCP_KEEPALIVE_MS = 30_000
/** A PROXY header with its TLVs: they are a few hundred bytes, a page of memory is what nginx takes, too. */
export const PROXY_HEADER_MAX_BYTES = 4096
/** Counters of the source budgets, 16 bytes each: what a flood of addresses can never make more of. */
export const RATE_LIMIT_SLOTS = 65_536
/** Units that unregistering gives back to a source in a minute, and that it may save up: a page reloaded ten times. */
export const REFUND_PER_MINUTE = 60
export const REFUND_BURST = 60
/** Signatures that wait for the thread which recovers their signers, at about 3 ms each. */
export const SIGNER_RECOVERIES_WAITING_MAX = 256
/** A recovery that takes longer shows a thread that hangs: it is ended, and the next one starts another. */
export const SIGNER_RECOVERY_DEADLINE_MS = 10_000
/** Head of an API request. */
export const API_HEAD_MAX_BYTES: number = 16 * 1024
/** A TLS handshake with the API, and then each request's head, must be whole by then, … */
export const API_HEAD_DEADLINE_MS = 10_000
/** … which is looked at this often. */
export const API_DEADLINE_CHECK_MS = 2_000
/** A kept-alive API connection may be idle this long; longer than the SDKs' gap between two signatures of a visit. */
export const API_IDLE_MS = 60_000
/** An answer that its client takes nothing of for this long is cut, with its connection. */
export const API_WRITE_DEADLINE_MS = 10_000
/** Answers that one connection may still wait for: nobody who needs them asks for more before the first has come. */
export const PIPELINED_REQUESTS_MAX = 16
/** What is sent of a body before the client has taken what was sent before. */
export const BODY_CHUNK_BYTES: number = 64 * 1024
/** Bodies on their way hold two such pieces each, one encrypted: so much of one source, a /64 counting as one, … */
export const RESPONSE_BYTES_PER_NETWORK_MAX: number = 16 * 1024 * 1024
/** … and of all sources; … */
export const RESPONSE_BYTES_MAX: number = 256 * 1024 * 1024
/** … but for those that the kernel takes whole, whoever reads them. */
export const RESPONSE_UNCOUNTED_BYTES: number = 16 * 1024
/** Files of the pages and the installer that are open at once, out of the descriptors that are not for connections. */
export const FILES_OPEN_MAX = 64
/** A page of a list, such as `/api/state`: as many items as fit, but one in any case. */
export const LIST_PAGE_BYTES: number = 256 * 1024
/** Pages of one list that are kept or on their way. */
export const LIST_CACHE_MAX_BYTES: number = 16 * 1024 * 1024
/** A page is made anew so often, at about a millisecond each; beyond that the last one is sent: first pages, … */
export const FIRST_LIST_PAGES: { perMinute: number; burst: number } = { perMinute: 1_200, burst: 40 }
/** … and all others together. */
export const OTHER_LIST_PAGES: { perMinute: number; burst: number } = { perMinute: 6_000, burst: 200 }
/** Smaller pages gain nothing by compression. */
export const COMPRESSED_MIN_BYTES = 1024
/** `rate_limited` is answered this late: nothing to an honest client, which waits longer anyway. */
export const RATE_LIMITED_DELAY_MS = 20
/** Sources whose failed admin logins are remembered; the one that failed longest ago is forgotten first. */
export const LOGIN_NETWORKS_MAX = 1024
/** Lines of the log that wait while standard output takes none, … */
export const LOG_PENDING_MAX_BYTES: number = 1024 * 1024
/** … which is tried again this often. */
export const LOG_RETRY_MS = 100
/** Files that changed are read again after this much quiet: a chain and its key are two. */
export const RELOAD_DELAY_MS = 300
/** Scrapers at once, and what each request of theirs may take. */
export const METRICS_CONNECTIONS_MAX = 16
export const METRICS_REQUEST_DEADLINE_MS = 5_000
/** What could not be written is tried again after this: a disk with room again is noticed soon, at one small write each. */
export const STATE_RETRY_MS = 5_000
/** A longer leases file is put aside unread: twice what the most leases and kept names fill. */
export const JOURNAL_MAX_BYTES: number = 256 * 1024 * 1024
/** Lines of the leases file beyond two for each reservation, before it is written anew: small files are left alone. */
export const JOURNAL_SURPLUS_LINES_MAX = 1024
/** Connections to all dedicated TCP ports together, … */
export const PORT_CONNECTIONS_MAX = 16_384
/** … and to one of them. */
export const PORT_CONNECTIONS_PER_LEASE_MAX = 2048
/** Ports that are tried for one lease when other processes have them; such a port is left alone … */
export const PORT_ATTEMPTS_MAX = 64
/** … this long. */
export const PORT_IN_USE_RETRY_MS = 60_000
/** Arrays and objects within one another in a request's body; the deepest of the contract's bodies has 3. */
export const JSON_DEPTH_MAX = 32
/** Values in a request's body, those within others included; the largest of the contract's bodies has 40. */
export const JSON_VALUES_MAX = 512
/** Bytes in memory of clients that have shown no token, metadata of open challenges included: of one source, … */
export const UNAUTHENTICATED_BYTES_PER_NETWORK_MAX: number = 1024 * 1024
/** … and of all. */
export const UNAUTHENTICATED_BYTES_MAX: number = 64 * 1024 * 1024
/** The same of bodies that came with a lease's token: of one lease, some hundred handshakes that wait for a signature, … */
export const AUTHENTICATED_BYTES_PER_LEASE_MAX: number = 4 * 1024 * 1024
/** … and of all. */
export const AUTHENTICATED_BYTES_MAX: number = 64 * 1024 * 1024
/** A client that is refused for that may come again after this: most bodies are there within one round trip. */
export const BODY_MEMORY_RETRY_S = 2
/** Of a body that is refused, so much is read and dropped before the answer, … */
export const DISCARDED_BODY_MAX_BYTES: number = 1024 * 1024
/** … or for this long: as long as it is on its way. */
export const DISCARDED_BODY_MS = 500
/**
 * Signatures of tokens are checked on the thread of all visitors, at some 0.6 ms each. Of tokens that name no active
 * lease so many are checked, … */
export const STALE_TOKENS_PER_MINUTE = 1200
export const STALE_TOKENS_BURST = 200
/** … and so many that turn out to be forged of tokens that name the same lease: only its holder knows its id. */
export const FORGED_TOKENS_PER_MINUTE = 60
export const FORGED_TOKENS_BURST = 100
/** A site stays in the cache this long without its tunnel, at most: what is asked for beyond is cut to it. */
export const CACHE_TTL_MAX_S = 86_400
/**
 * Texts in a request's body, in UTF-16 code units: longer ones are refused before anything looks for a pattern in them.
 * The longest address is an IPv6 one of 45 with the name of an interface (15 on Linux) behind `%`.
 */
export const IP_MAX_CHARS = 64
/** A lease name may come with blanks around it, which are left out. */
export const NAME_TEXT_MAX_CHARS = 64
/** `0x` and 40 digits. */
export const ADDRESS_TEXT_MAX_CHARS = 42
/** Name, colon and address. */
export const IDENTITY_KEY_MAX_CHARS: number = NAME_TEXT_MAX_CHARS + 1 + ADDRESS_TEXT_MAX_CHARS
/** Key ids, challenge ids and words out of a list. */
export const WORD_MAX_CHARS = 64
/** What the SDKs sign is no longer either; a host name, at most 253 characters, is twice in it. */
export const SIWE_MESSAGE_MAX_CHARS = 2048
/** `0x` and 130 digits, with room for what is to be called a wrong signature and not a wrong request. */
export const SIWE_SIGNATURE_MAX_CHARS = 256
export const URL_MAX_CHARS = 2048
/** Longer than any token of this relay. */
export const TOKEN_TEXT_MAX_CHARS = 8192
/** One handshake message for `/v1/sign`: as much as the ClientHello may have. */
export const SIGN_MESSAGE_MAX_BYTES: number = 64 * 1024
/** Metadata of all leases together, in UTF-16 code units, which are a byte each but in texts beyond Latin-1. */
export const METADATA_TOTAL_MAX_CHARS: number = 128 * 1024 * 1024
/** The kernel keeps this much of what came while the relay was busy, if the system allows (`net.core.rmem_max`). */
export const UDP_RECEIVE_BUFFER_BYTES: number = 4 * 1024 * 1024
/** Bytes given to a lease's UDP socket that the kernel has not taken; more is dropped. */
export const UDP_SEND_QUEUE_MAX_BYTES: number = 1024 * 1024
/** A file of changes of the policy, some 15,000 of them; before it would be larger, it is put aside, … */
export const AUDIT_FILE_MAX_BYTES: number = 4 * 1024 * 1024
/** … and so many are kept, the newest included. */
export const AUDIT_FILES_MAX = 4
/** Lines that wait for a disk that takes none; the oldest is lost first. */
export const AUDIT_LINES_WAITING_MAX = 1024
/** Members of one list that an edit of policy.json added, or removed, and that are told one by one. */
export const AUDIT_MEMBERS_MAX = 100
/** An IPv6 address with a prefix length. */
export const NETWORK_MAX_CHARS: number = IP_MAX_CHARS + 4
/** Names that an operator keeps from everybody. */
export const RESERVED_NAMES_MAX = 1000
/** A friendly name whose lease is over stays reserved for its identity this long. */
export const NAME_RESERVATION_MS: number = 10 * 60_000
/** Identities whose lease is over and whose name or ports are kept; the one that left longest ago is forgotten first. */
export const RESERVATIONS_MAX = 200_000
/** Changes of the policy that administrators are shown: what they did lately, not a ledger. */
export const POLICY_CHANGES_MAX = 100
/** What a process of the relay has counted is added to the sum this often. */
export const WORKER_REPORT_MS = 250
/** Messages on their way to one worker; one that takes none is ended when there are more. */
export const WORKER_MESSAGES_MAX = 65_536
/** Leases that a new worker is told of in one message. */
export const WORKER_LEASES_PER_MESSAGE = 256
/** Each worker is asked this often whether it is there, … */
export const WORKER_PING_MS = 5_000
/** … and is ended when it has not answered for this long. */
export const WORKER_PING_DEADLINE_MS = 15_000
/** A worker that died is started again after this; twice as long each time, … */
export const WORKER_BACKOFF_MS = 200
/** … up to this, and from the beginning when it has lived as long. */
export const WORKER_BACKOFF_MAX_MS = 30_000
/** A worker that was told to end and does not is killed after this, beyond what its last answers get. */
export const WORKER_END_DEADLINE_MS = 2_000
/** Connections to the API that one worker has open with the first process; one more is closed. */
export const FORWARDED_CONNECTIONS_MAX = 4_096
/** A request of the relay to another server has its whole response by then, unless the caller says otherwise, … */
export const OUTBOUND_DEADLINE_MS = 10_000
/** … whose body has at most so many bytes. */
export const OUTBOUND_RESPONSE_MAX_BYTES: number = 1024 * 1024
/** The relay's public addresses are looked for this often: a change is known before most resolvers' caches let it go. */
export const PUBLIC_ADDRESS_REFRESH_MS: number = 5 * 60_000
