// Holds the relay's own limits of datagram tunnels, their flows and the QUIC process.

/**
 * QUIC connections of datagram tunnels at once. A handshake counts once its client has proved its address (Retry).
 */
export const TUNNELS_MAX = 16_384
/** QUIC connections that have not shown a token yet. */
export const TUNNELS_PENDING_MAX = 1024
/** The same from one network. */
export const TUNNELS_PENDING_PER_NETWORK_MAX = 16
/**
 * Bytes that the relay accepts on a tunnel's stream in one heartbeat interval: sixteen heartbeats, since a client may
 * send some early.
 */
export const TUNNEL_STREAM_MAX_BYTES: number = 48 * 1024
/**
 * Lines about new flows that the relay writes to one tunnel at once, and in a second: visitors with forged addresses make
 * as many flows as they like. At most 85 bytes each, so that a burst fits in half of `TUNNEL_STREAM_MAX_BYTES`.
 */
export const FLOW_LINES_BURST = 256
export const FLOW_LINES_PER_SECOND = 1024
/** The share of one network in both, at all tunnels together. */
export const FLOW_LINES_NETWORK_SHARE: number = 1 / 4
/** Flows of one lease. A busy game server has hundreds. */
export const FLOWS_PER_LEASE_MAX = 16_384
/** Flows of all leases, at some 500 bytes each. */
export const FLOWS_MAX = 262_144
/**
 * When there is no room, the relay ends a flow that was silent for this long. A flood of addresses displaces no
 * active flow.
 */
export const FLOW_EVICTABLE_MS = 10_000
/** Interval at which the relay looks for idle flows. */
export const FLOW_SWEEP_MS = 10_000
/**
 * Bytes, and datagrams, that the relay sends to a visitor's address for each that came from it, until the address is
 * validated: QUIC's anti-amplification limit (RFC 9000 §8.1).
 */
export const AMPLIFICATION_MAX = 3
/** Bytes of that credit that an address keeps for late responses: more than arrives in one burst. */
export const UNVALIDATED_CREDIT_MAX_BYTES: number = 8 * 1024 * 1024
/**
 * A datagram that arrives this long after one was sent to its address counts as a response. Datagrams of one burst
 * come earlier.
 */
export const RESPONSE_DELAY_MIN_MS = 50
/** Responses that validate an address: they show that what is sent there arrives. */
export const VALIDATION_RESPONSES = 2
/**
 * Responses from all ports of one IP address that validate its ports together, since a DNS resolver sends each
 * question from another port.
 */
export const HOST_VALIDATION_RESPONSES = 8
/**
 * A silence after which a validation expires, since a NAT may have given the address to another host (RFC 4787
 * REQ-5).
 */
export const VALIDATION_EXPIRY_MS = 120_000
/**
 * Bytes beyond `AMPLIFICATION_MAX` that the relay sends to a validated address for each that came from it. QUIC
 * acknowledges every tenth packet of a download in some 30 bytes.
 */
export const VALIDATED_AMPLIFICATION_MAX = 512
/** Most bytes of that credit that one datagram earns. */
export const VALIDATED_CREDIT_PER_DATAGRAM_BYTES: number = 16 * 1024
/** Datagrams that the relay may send to a validated address for each that came from it. */
export const VALIDATED_DATAGRAMS_PER_DATAGRAM = 64
/** Bytes of that credit that a validated address keeps. */
export const VALIDATED_CREDIT_MAX_BYTES: number = 1024 * 1024
/** Datagrams that the relay may send to any address at once. With fewer, the late echo of a burst would be lost. */
export const CREDIT_MAX_DATAGRAMS = 65_536
/** Bytes of that credit that all addresses of one network get in a second, from all ports together. */
export const VALIDATED_BYTES_PER_SECOND: number = 8 * 1024 * 1024
/** Datagrams of one lease in a second, in each direction. */
export const DATAGRAMS_PER_SECOND_MAX = 20_000
/** Datagrams of one lease at once: as many as an SDK queues; the QUIC library takes them with hardly any loss. */
export const DATAGRAM_BURST = 4096
/**
 * Datagrams of a tunnel that the relay passes on before it reads sockets again: as many as Node reads from a socket in
 * one turn of the event loop.
 */
export const TUNNEL_DATAGRAMS_PER_TICK = 32
/** One frame between the relay and its QUIC process. The largest has the chain and key of the certificate. */
export const QUIC_FRAME_MAX_BYTES: number = 256 * 1024
/**
 * Bytes that may wait in that pipe: more than 4,096 datagrams. Beyond that, the sender drops new datagrams; its peer
 * drops those that have waited too long.
 */
export const QUIC_PIPE_MAX_BYTES: number = 8 * 1024 * 1024
/** Datagrams passed to the QUIC library at once, since it drops those for which it has no room. */
export const QUIC_BATCH_DATAGRAMS = 256
/** Time between two such batches, which makes some 100,000 datagrams a second. */
export const QUIC_BATCH_INTERVAL_MS = 2
/** Interval at which the QUIC process reports the datagrams that it dropped. */
export const QUIC_DROPS_REPORT_MS = 250
/** Time for the QUIC process to load the library and listen. */
export const QUIC_START_DEADLINE_MS = 20_000
/** Time for the QUIC process to end. Then it is killed. */
export const QUIC_END_DEADLINE_MS = 3_000
/** Attempts at short intervals to reopen the QUIC endpoint's port for a new certificate. */
export const ENDPOINT_ATTEMPTS = 20
/** Interval between those attempts. */
export const ENDPOINT_RETRY_MS = 250
/** Interval after `ENDPOINT_ATTEMPTS`, until the port is free. */
export const ENDPOINT_SLOW_RETRY_MS = 60_000
/** Attempts at the start of the relay while another program, such as the previous relay, has the port. */
export const ENDPOINT_FIRST_ATTEMPTS = 5
