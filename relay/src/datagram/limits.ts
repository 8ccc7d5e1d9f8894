// Bounds of the datagram tunnels, their flows, and the process that speaks QUIC: the relay's own, as in ../limits.ts.

/** QUIC connections of datagram tunnels at once; a handshake counts only when it has proved its address (Retry). */
export const TUNNELS_MAX = 16_384
/** … and those of them that have not shown a token yet: of all sources, … */
export const TUNNELS_PENDING_MAX = 1024
/** … and of one, a /64 counting as one. */
export const TUNNELS_PENDING_PER_NETWORK_MAX = 16
/** What the stream of a tunnel may bring while one heartbeat is due: sixteen, for a client may be in a hurry. */
export const TUNNEL_STREAM_MAX_BYTES: number = 48 * 1024
/** Flows of one lease: a busy game server has hundreds; … */
export const FLOWS_PER_LEASE_MAX = 16_384
/** … and of all leases, at some 500 bytes each. */
export const FLOWS_MAX = 262_144
/** When there is no room, a flow that was silent for this long makes room; a flood of addresses displaces no live one. */
export const FLOW_EVICTABLE_MS = 10_000
/** How often idle flows are looked for. */
export const FLOW_SWEEP_MS = 10_000
/**
 * What may be sent to a visitor's address for each byte, and each datagram, that came from it, as long as nothing shows that
 * the address is not forged: QUIC's anti-amplification limit (RFC 9000 §8.1).
 */
export const AMPLIFICATION_MAX = 3
/** As many bytes of that are kept for answers that come late: more than comes in one burst. */
export const UNVALIDATED_CREDIT_MAX_BYTES: number = 8 * 1024 * 1024
/** An address has answered when a datagram comes from it this long after one was sent there: of a burst none is an answer. … */
export const RESPONSE_DELAY_MIN_MS = 50
/** … So many answers show that what is sent there arrives, … */
export const VALIDATION_RESPONSES = 2
/** … or so many from all ports of one IP address, for a DNS resolver asks each question from another one; … */
export const HOST_VALIDATION_RESPONSES = 8
/** … until it has been silent for this long: then a NAT may have given it to somebody else (RFC 4787 REQ-5). */
export const VALIDATION_EXPIRY_MS = 120_000
/**
 * Beyond those three times, an address that has answered may be sent so many times the bytes that come from it: QUIC
 * acknowledges every tenth packet of a download, in some 30 bytes; …
 */
export const VALIDATED_AMPLIFICATION_MAX = 512
/** … at most this much for one datagram, … */
export const VALIDATED_CREDIT_PER_DATAGRAM_BYTES: number = 16 * 1024
/** … in as many datagrams as small packets make of it; … */
export const VALIDATED_DATAGRAMS_PER_DATAGRAM = 64
/** … this much of it may be saved up; … */
export const VALIDATED_CREDIT_MAX_BYTES: number = 1024 * 1024
/** … and so many datagrams, also before an answer: with fewer, the late echo of a burst would be lost. … */
export const CREDIT_MAX_DATAGRAMS = 65_536
/** … and all addresses of one network, a /64 counting as one, get this much in a second from all ports together. */
export const VALIDATED_BYTES_PER_SECOND: number = 8 * 1024 * 1024
/** Datagrams of one lease in a second, each way, … */
export const DATAGRAMS_PER_SECOND_MAX = 20_000
/** … and at once: what an SDK keeps back, and what the QUIC library was seen to take with hardly any lost. */
export const DATAGRAM_BURST = 4096
/** Datagrams of a tunnel that are passed on before sockets are read again: as many as Node reads of a socket in one turn, … */
export const TUNNEL_DATAGRAMS_PER_TICK = 32
/** … while so many wait. */
export const TUNNEL_QUEUE_MAX = 4096
/** One frame between the relay and its QUIC process: the largest is its certificate's chain and key, … */
export const QUIC_FRAME_MAX_BYTES: number = 256 * 1024
/** … and so much may wait for one of the two; datagrams that come then are dropped. It is more than 4,096 of them. */
export const QUIC_PIPE_MAX_BYTES: number = 8 * 1024 * 1024
/** What the library gets of it at once, for it loses what it has no room for, … */
export const QUIC_BATCH_DATAGRAMS = 256
/** … with this much time in between, which is some 100,000 datagrams a second. */
export const QUIC_BATCH_INTERVAL_MS = 2
/** The QUIC process tells this often what it dropped. */
export const QUIC_DROPS_REPORT_MS = 250
/** It has this long to load the library and listen, … */
export const QUIC_START_DEADLINE_MS = 20_000
/** … and this long to end when it is told to; then it is killed. */
export const QUIC_END_DEADLINE_MS = 3_000
/** A new certificate needs the endpoint's port anew: it is tried this often, … */
export const ENDPOINT_ATTEMPTS = 20
/** … with this much time in between, … */
export const ENDPOINT_RETRY_MS = 250
/** … and then with this much, until it can be had again. */
export const ENDPOINT_SLOW_RETRY_MS = 60_000
/** At a start it is tried this often while somebody else has the port, such as the relay before this one. */
export const ENDPOINT_FIRST_ATTEMPTS = 5
