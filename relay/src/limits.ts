// The relay's own numbers: bounds that no client needs to know. Those of the contract are in @svc/protocol.

/** Public and API connections open at once, … */
export const CONNECTIONS_MAX = 16_384
/** … of one source, a /64 counting as one, … */
export const CONNECTIONS_PER_SOURCE_MAX = 4096
/** … and of those that have not said yet whom they want: with one more, the oldest of them goes; … */
export const SILENT_CONNECTIONS_MAX = 4096
/** … with one more of the same source, that one. */
export const SILENT_CONNECTIONS_PER_SOURCE_MAX = 1024
/**
 * Connections that the kernel keeps until they are accepted, if the system allows (`net.core.somaxconn`). All of them are
 * accepted in one turn of the event loop, at some 60 µs each: more would hold up those who are here.
 */
export const BACKLOG = 512
/** Descriptors that are not for connections: files, listeners, threads and pipes. */
export const DESCRIPTORS_RESERVED = 256
/** How often the process looks at whether it keeps up, … */
export const STRAIN_LOOK_MS = 100
/** … and how late it has to be, smoothed over a second, or how full its heap, to turn newcomers away. */
export const STRAIN_DELAY_MS = 250
export const HEAP_STRAIN = 0.8
/** Visitors of one lease that wait for a ready session at once; one more is turned away at once. */
export const WAITING_CLAIMS_MAX = 1024
/** Active leases. */
export const LEASES_MAX = 100_000
/** Leases that expire in one turn of the event loop, at some 10 µs each: with more the relay would stutter. */
export const DEADLINES_PER_TURN = 256
/** Open registration challenges of all sources. */
export const CHALLENGES_MAX = 10_000
/** Tokens whose signature is not checked again, at about 1 KB each: the two that each of 2,000 busy leases shows. */
export const VERIFIED_TOKENS_MAX = 4096
/** Bindings between activation and signature, of all leases; the oldest go first. */
export const BINDINGS_MAX = 65_536
/** A lease gets another certificate of its own after this long; it is valid for far longer. */
export const OWN_CERTIFICATE_RENEWAL_MS: number = 30 * 86_400_000
/** Replaced certificates still sign for this long: twice what an SDK lets pass before it fetches the chain again. */
export const PREVIOUS_CERTIFICATES_MS: number = 2 * 60 * 60_000
/** Keepalives written in one turn of the event loop, at some 20 µs each. */
export const KEEPALIVES_PER_TURN = 128
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
/**
 * What a bridge passes on in one turn of the event loop and direction, so that the others have theirs soon; and with it
 * the size of the buffer that all bridged sockets are read into, for one read brings no more.
 */
export const TURN_MAX_BYTES: number = 256 * 1024
/** One read of a socket whose identity has a rate: its connections share that in pieces that are no larger. */
export const LIMITED_READ_MAX_BYTES: number = 16 * 1024
/** TLS records that leave in one write, and a turn's share where they come from: twice as much gains nothing. */
export const GATHER_BYTES: number = 64 * 1024
/** Buffers for that which are kept while nobody uses them: 4 MiB. */
export const GATHER_BUFFERS_SPARE_MAX = 64
/** Whether sockets can be read that way is found out at the start, over a connection of the relay to itself. */
export const LANDING_PROBE_DEADLINE_MS = 1_000
/** A carrier that is told to close is cut after this. */
export const CARRIER_CLOSE_DEADLINE_MS = 2_000
/** What visitors get to finish when the relay is told to stop: what supervisors allow before they kill is more. */
export const DRAIN_MS = 10_000
/** The last answers and close frames have this long to leave. */
export const FAREWELL_MS = 1_000
/** TCP keep-alive probes on public connections begin after this much silence, so that vanished peers end. */
export const TCP_KEEPALIVE_MS = 30_000
/** A PROXY header with its TLVs: they are a few hundred bytes, a page of memory is what nginx takes, too. */
export const PROXY_HEADER_MAX_BYTES = 4096
/** Counters of the source budgets, 16 bytes each: what a flood of addresses can never make more of. */
export const BUDGET_SLOTS = 65_536
/** Units that unregistering gives back to a source in a minute, and that it may save up: a page reloaded ten times. */
export const REFUND_PER_MINUTE = 60
export const REFUND_BURST = 60
/** Signatures that wait for the thread which recovers their signers, at about 3 ms each. */
export const RECOVERIES_WAITING_MAX = 256
/** A recovery that takes longer shows a thread that hangs: it is ended, and the next one starts another. */
export const RECOVERY_DEADLINE_MS = 10_000
/** Head of an API request. */
export const API_HEAD_MAX_BYTES: number = 16 * 1024
/** A TLS handshake with the API, and then each request's head, must be whole by then, … */
export const API_HEAD_DEADLINE_MS = 10_000
/** … which is looked at this often. */
export const API_DEADLINE_CHECK_MS = 2_000
/** A kept-alive API connection may be idle this long; longer than the SDKs' gap between two signatures of a visit. */
export const API_IDLE_MS = 60_000
/** `rate_limited` is answered this late: nothing to an honest client, which waits longer anyway. */
export const RATE_LIMITED_PAUSE_MS = 20
/** Sources whose failed admin logins are remembered; the one that failed longest ago is forgotten first. */
export const LOGIN_SOURCES_MAX = 1024
/** Files that changed are read again after this much quiet: a chain and its key are two. */
export const RELOAD_DELAY_MS = 300
/** Scrapers at once, and what each request of theirs may take. */
export const METRICS_CONNECTIONS_MAX = 16
export const METRICS_REQUEST_DEADLINE_MS = 5_000
/** Lines of the leases file beyond two for each reservation, before it is written anew: small files are left alone. */
export const JOURNAL_SPARE_LINES = 1024
/** Connections to all dedicated TCP ports together, … */
export const PORT_CONNECTIONS_MAX = 16_384
/** … and to one of them. */
export const PORT_CONNECTIONS_PER_LEASE_MAX = 2048
/** Ports that are tried for one lease when other processes have them; such a port is left alone … */
export const PORT_ATTEMPTS_MAX = 64
/** … this long. */
export const PORT_TAKEN_MS = 60_000
/** Arrays and objects within one another in a request's body; the deepest of the contract's bodies has 3. */
export const JSON_DEPTH_MAX = 32
/** Lease metadata, in UTF-16 code units each. */
export const METADATA_TEXT_MAX = 1024
export const METADATA_THUMBNAIL_MAX: number = 16 * 1024
export const METADATA_TAGS_MAX = 16
export const METADATA_TAG_MAX = 64
/** QUIC connections of datagram tunnels at once; a handshake counts only when it has proved its address (Retry). */
export const TUNNELS_MAX = 16_384
/** … and those of them that have not shown a token yet: of all sources, … */
export const TUNNELS_PENDING_MAX = 1024
/** … and of one, a /64 counting as one. */
export const TUNNELS_PENDING_PER_SOURCE_MAX = 16
/** What the stream of a tunnel may bring while one heartbeat is due: sixteen, for a client may be in a hurry. */
export const TUNNEL_STREAM_MAX_BYTES: number = 48 * 1024
/** Flows of one lease: a busy game server has hundreds; … */
export const FLOWS_PER_LEASE_MAX = 16_384
/** … and of all leases, at some 300 bytes each. */
export const FLOWS_MAX = 262_144
/** When there is no room, a flow that was silent for this long makes room; a flood of addresses displaces no live one. */
export const FLOW_EVICTABLE_MS = 10_000
/** How often idle flows are looked for. */
export const FLOW_SWEEP_MS = 10_000
/** What may be sent to a visitor for each datagram that came from it, … */
export const REPLY_BYTES_PER_DATAGRAM: number = 16 * 1024
/** … and how much of that may be saved up: a reply never outweighs what a visitor has shown to be there for. */
export const REPLY_CREDIT_MAX_BYTES: number = 1024 * 1024
/** Beyond that, as many bytes as it sent itself, which amplifies nothing: more than comes in one burst. */
export const ECHO_CREDIT_MAX_BYTES: number = 8 * 1024 * 1024
/** Datagrams of one lease in a second, each way, … */
export const DATAGRAMS_PER_SECOND_MAX = 20_000
/** … and at once: what an SDK keeps back, and what the QUIC library was seen to take with hardly any lost. */
export const DATAGRAM_BURST = 4096
/** Datagrams of a tunnel that are passed on before sockets are read again: as many as Node reads of a socket in one turn, … */
export const TUNNEL_PER_TURN = 32
/** … while so many wait. */
export const TUNNEL_WAITING_MAX = 4096
/** The kernel keeps this much of what came while the relay was busy, if the system allows (`net.core.rmem_max`). */
export const UDP_RECEIVE_BUFFER_BYTES: number = 4 * 1024 * 1024
/** Bytes given to a lease's UDP socket that the kernel has not taken; more is dropped. */
export const UDP_SEND_QUEUE_MAX_BYTES: number = 1024 * 1024
/** A new certificate needs the endpoint's port anew: it is tried this often, … */
export const ENDPOINT_ATTEMPTS = 20
/** … with this much time in between. */
export const ENDPOINT_PAUSE_MS = 250
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
export const WORKER_SILENCE_MS = 15_000
/** A worker that died is started again after this; twice as long each time, … */
export const WORKER_PAUSE_MS = 200
/** … up to this, and from the beginning when it has lived as long. */
export const WORKER_PAUSE_MAX_MS = 30_000
/** A worker that was told to end and does not is killed after this, beyond what its last answers get. */
export const WORKER_END_DEADLINE_MS = 2_000
/** Connections to the API that one worker has open with the first process; one more is closed. */
export const FORWARDED_MAX = 4_096
