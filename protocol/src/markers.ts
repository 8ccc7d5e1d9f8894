// Single bytes that the relay writes on a reverse session, native or multiplexed.

/** MARKER are the bytes that the relay writes on a reverse session. */
export const MARKER = {
  /** The session waits in the ready queue; repeated. */
  keepalive: 0x00,
  /** A client of the dedicated TCP port: raw bytes follow. */
  raw: 0x01,
  /** A TLS client: the binding follows, then the client's TLS records. */
  tls: 0x02,
} as const
