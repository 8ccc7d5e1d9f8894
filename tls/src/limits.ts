// All limits of the engine, with the unit in the name, the source, and the effect of exceeding each.

/**
 * One handshake message of a peer has at most this many bytes, header included. A longer one, such as a ClientHello, is
 * an illegal_parameter.
 */
export const HANDSHAKE_MESSAGE_MAX_BYTES: number = 64 * 1024

/** A protected record may exceed 2^14 bytes by this (RFC 8446 §5.2). A longer one is a record_overflow. */
export const RECORD_EXPANSION_MAX_BYTES = 256

/**
 * The most change_cipher_spec records that are dropped in one handshake (§5 requires one). One more is an unexpected_message.
 */
export const CHANGE_CIPHER_SPECS_MAX = 32

/**
 * The most empty application_data records in a row, which are allowed as cover traffic (§5.4). One more is an
 * unexpected_message.
 */
export const EMPTY_RECORDS_MAX = 32

/** The most KeyUpdates in a row without application data in between. One more is an unexpected_message. */
export const KEY_UPDATES_MAX = 32

/**
 * The most alerts that do not close: user_canceled (§6.1), in TLS 1.2 all warnings. One more is an
 * unexpected_message.
 */
export const WARNING_ALERTS_MAX = 4

/**
 * The most TLS 1.2 renegotiation attempts that get no_renegotiation. One more is an unexpected_message.
 */
export const RENEGOTIATIONS_MAX = 4

/**
 * The most bytes of early data that are skipped as ciphertext (§4.2.10). After that, a record that does not decrypt is an
 * error.
 */
export const EARLY_DATA_SKIP_MAX_BYTES: number = 64 * 1024

/**
 * The server seals this many records with one key before its own KeyUpdate. TLS 1.2 has none, and ends with
 * internal_error. RFC 8446 §5.5 allows 2^24.5 full records for AES-GCM. ChaCha20-Poly1305 would allow more, but one
 * number is simpler.
 */
const RECORDS_PER_KEY_MAX: number = 2 ** 24

/** The most records that are sealed, or opened, concurrently. Some browsers run WebCrypto on a thread pool. */
export const RECORDS_IN_FLIGHT = 16

/** When this much input waits in a handshake, `receive` asks its caller to wait. */
export const HANDSHAKE_BACKLOG_BYTES: number = 64 * 1024

/** The overhead counted for each waiting chunk, in bytes: about the cost of a view in a JavaScript engine. */
export const CHUNK_OVERHEAD_BYTES = 128

/** The most input that may wait if the caller does not wait. More is an internal_error. */
export const RECEIVE_BACKLOG_MAX_BYTES: number = 4 * 1024 * 1024

/**
 * The handshake may take this long, from the construction to the client's Finished. After that the connection is
 * aborted.
 */
const HANDSHAKE_TIMEOUT_MS = 30_000

/** One signature may take this long. After that the connection ends with internal_error. */
const SIGN_TIMEOUT_MS = 10_000

/** One {@link boundedSigner} requests this many signatures at the same time. */
export const SIGNATURES_IN_FLIGHT_MAX = 32

/** The most handshakes that may wait for a signature. One more fails with internal_error. */
export const SIGNATURES_WAITING_MAX = 256

/** The server reads this many PSK identities of a ClientHello (§4.2.11), and ignores the rest. */
export const PSK_IDENTITIES_MAX = 4

/** The lifetime of a ticket and of the key that sealed it, in seconds. RFC 8446 §4.6.1 allows 7 days. */
export const TICKET_LIFETIME_S: number = 24 * 60 * 60

/**
 * How long resumptions may continue without a new signature, in seconds. A resumed connection gives new tickets, and these
 * are valid until this long after the handshake with a certificate (RFC 8446 §4.6.1).
 */
export const SESSION_LIFETIME_MAX_S: number = 7 * 24 * 60 * 60

/**
 * The server sends this many tickets after a handshake: browsers open several connections, and a ticket should be used
 * once (§C.4).
 */
export const TICKETS_PER_HANDSHAKE = 2

/** Timers take a signed 32-bit number of milliseconds, 24.8 days, and fire at once beyond it. */
export const TIMER_MAX_MS: number = 2 ** 31 - 1

/** Limits are the limits that a server's configuration may change. */
export interface Limits {
  /**
   * The milliseconds from the construction to the client's Finished. After that the server aborts the connection.
   * @default 30,000
   */
  handshakeTimeoutMs: number
  /**
   * The milliseconds that a signature may take. After that the connection ends with `internal_error`.
   * @default 10,000
   */
  signTimeoutMs: number
  /**
   * The number of records that are sealed under one key before the server changes it. TLS 1.2 ends instead.
   * @default 16,777,216
   */
  recordsPerKey: number
}

export const DEFAULT_LIMITS: Limits = {
  handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
  signTimeoutMs: SIGN_TIMEOUT_MS,
  recordsPerKey: RECORDS_PER_KEY_MAX,
}
