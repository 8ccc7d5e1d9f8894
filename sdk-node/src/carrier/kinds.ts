// The names of the carriers, as options give them.

/**
 * `native` brings visitors over a few TLS connections, `native-sessions` each over a connection of its own, and
 * `websocket` over WebSockets.
 */
export const CARRIERS = ['native', 'native-sessions', 'websocket'] as const

/** CarrierKind names a way to the relay. */
export type CarrierKind = (typeof CARRIERS)[number]
