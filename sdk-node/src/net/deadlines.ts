// Holds the deadlines of connections: to relays, to proxies before them, and to local services.

/** The deadline of a native session from the first packet to its 101, in milliseconds: DNS, TCP, TLS, one exchange. */
export const DIAL_DEADLINE_MS = 10_000
/**
 * Milliseconds for a TCP connection to one address of a name, before the next address is tried. Node's default of 250 gives up
 * on relays that are far away, and fails on a busy machine.
 */
export const ADDRESS_DEADLINE_MS = 2_500
/** The deadline for a local service to accept a connection, in milliseconds; then the SDK treats it as down. */
export const TARGET_CONNECT_DEADLINE_MS = 10_000
