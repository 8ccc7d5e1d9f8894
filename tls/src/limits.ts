// Every bound of the engine: value, unit in the name, source, and what happens past it.

/** One handshake message of a peer, header included. Bounds a ClientHello; past it: illegal_parameter. */
export const HANDSHAKE_MESSAGE_MAX_BYTES: number = 64 * 1024

/** RFC 8446 §5.2: expansion of a protected record beyond 2^14; past it: record_overflow. */
export const RECORD_EXPANSION_MAX_BYTES = 256

/** change_cipher_spec records that are dropped in one handshake (§5 asks for one); past it: unexpected_message. */
export const CHANGE_CIPHER_SPECS_MAX = 32

/** Empty application_data records in a row (§5.4 allows them as cover traffic); past it: unexpected_message. */
export const EMPTY_RECORDS_MAX = 32

/** KeyUpdates in a row without application data between them; past it: unexpected_message. */
export const KEY_UPDATES_MAX = 32

/** Alerts that do not close: user_canceled (§6.1), in TLS 1.2 all warnings; past it: unexpected_message. */
export const WARNING_ALERTS_MAX = 4

/** ClientHellos of TLS 1.2 that ask for a renegotiation and get no_renegotiation; past it: unexpected_message. */
export const RENEGOTIATIONS_MAX = 4

/** Early data that is skipped (§4.2.10), in bytes of ciphertext; past it a record that does not decrypt is one. */
export const EARLY_DATA_SKIP_MAX_BYTES: number = 64 * 1024

/**
 * Records sealed with one key before our own KeyUpdate; TLS 1.2 has none, and ends with internal_error. RFC 8446 §5.5:
 * 2^24.5 full records for AES-GCM; ChaCha20-Poly1305 could do more, one number is simpler.
 */
const RECORDS_PER_KEY_MAX: number = 2 ** 24

/** Records that are sealed, or opened, at the same time. WebCrypto of some browsers works on a thread pool. */
export const RECORDS_IN_FLIGHT = 16

/** Input that waits in a handshake before `receive` asks its caller to hold back. */
export const HANDSHAKE_BACKLOG_BYTES: number = 64 * 1024

/** What a chunk of waiting input counts besides its bytes: about what an engine spends on a view. */
export const CHUNK_OVERHEAD_BYTES = 128

/** Input that waits because its caller did not hold back; past it: internal_error. */
export const RECEIVE_BACKLOG_MAX_BYTES: number = 4 * 1024 * 1024

/** From the construction to the client's Finished; past it: the connection is aborted. */
const HANDSHAKE_TIMEOUT_MS = 30_000

/** One signature; past it: internal_error. */
const SIGN_TIMEOUT_MS = 10_000

/** Signatures that one {@link boundedSigner} asks for at the same time. */
export const SIGNATURES_IN_FLIGHT_MAX = 32

/** Handshakes that wait for one of them; one more fails with internal_error. */
export const SIGNATURES_WAITING_MAX = 256

/** PSK identities of a ClientHello that are looked at (§4.2.11); the rest is ignored. */
export const PSK_IDENTITIES_MAX = 4

/** How long a ticket, and the key that sealed it, is good, in seconds; RFC 8446 §4.6.1 allows 7 days. */
export const TICKET_LIFETIME_S: number = 24 * 60 * 60

/**
 * How long resumptions may go on without a new signature, in seconds: a resumed connection gives new tickets, and these
 * are good until so long after the handshake with a certificate (RFC 8446 §4.6.1).
 */
export const SESSION_LIFETIME_MAX_S: number = 7 * 24 * 60 * 60

/** Tickets after a handshake: browsers open several connections, and a ticket should be used once (§C.4). */
export const TICKETS_PER_HANDSHAKE = 2

/** Timers take a signed 32-bit number of milliseconds, 24.8 days, and fire at once beyond it. */
export const TIMER_MAX_MS: number = 2 ** 31 - 1

/** The bounds that a server's configuration may change. */
export interface Limits {
  /**
   * Milliseconds from the construction to the client's Finished. After that the server aborts the connection.
   * @default 30,000
   */
  handshakeTimeoutMs: number
  /**
   * Milliseconds that a signature may take. After that the connection ends with `internal_error`.
   * @default 10,000
   */
  signTimeoutMs: number
  /**
   * Records that are sealed under one key before the server changes it; TLS 1.2 ends instead.
   * @default 16,777,216
   */
  recordsPerKey: number
}

export const DEFAULT_LIMITS: Limits = {
  handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
  signTimeoutMs: SIGN_TIMEOUT_MS,
  recordsPerKey: RECORDS_PER_KEY_MAX,
}
