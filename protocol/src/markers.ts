// The single bytes that the relay writes on a reverse session, native or multiplexed.

/** MARKER are the bytes that the relay writes on a reverse session. */
export const MARKER = {
  /** The session waits in the ready queue. The relay repeats this marker. */
  keepalive: 0x00,
  /** The session belongs to a TCP visitor: its bytes follow. */
  raw: 0x01,
  /** The session belongs to a TLS visitor: the binding follows, then the visitor's TLS records. */
  tls: 0x02,
} as const
