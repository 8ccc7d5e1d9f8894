// The limits of carriers and of their streams (docs/protocol.md §6).

/** The capability at the start of a carrier stream has at most this many bytes of UTF-8. */
export const CAPABILITY_MAX_BYTES = 8192
/** Capability and answer must both have been sent within this time. */
export const CAPABILITY_DEADLINE_MS = 10_000
/** One WebSocket message of the browser carrier has at most this many bytes. */
export const WEBSOCKET_MESSAGE_MAX_BYTES: number = 1024 * 1024
