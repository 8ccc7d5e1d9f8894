// The values of labels whose set is fixed.

/** Why the relay refused a connection. */
export type Refusal =
  /** The relay has as many connections as it may have. */
  | 'full'
  /** The network of the client has as many connections, or silent ones, as it may have. */
  | 'network'
  /** Too many connections were silent, and this was the oldest of them. */
  | 'silent'
  /** The relay is overloaded. */
  | 'overload'

/** Names the bound that was exceeded. */
export type MemoryBound = 'carrier' | 'lease' | 'network' | 'relay'

/** Reasons for which the relay drops a datagram. */
export type DatagramDrop =
  /** A visitor's datagram for a lease without a tunnel, or one that visitors may not reach. */
  | 'no_tunnel'
  | 'not_routed'
  /** The port or the relay has no room for another flow. */
  | 'flow_limit'
  /** The datagram is larger than the path to the SDK allows. */
  | 'too_large'
  /** The QUIC library, the kernel or this process has no room. */
  | 'queue_full'
  /** The datagram waited for longer than a queue may hold it, since this machine did not keep up. */
  | 'too_old'
  /** The lease exceeds its packets per second, or the identity its bytes per second. */
  | 'rate_limit'
  | 'bandwidth'
  /** An SDK's datagram that came before its token, has no flow id, or names an unknown flow. */
  | 'unauthenticated'
  | 'malformed'
  | 'unknown_flow'
  /** The response to an unconfirmed visitor is too large for what the visitor sent. */
  | 'amplification'
