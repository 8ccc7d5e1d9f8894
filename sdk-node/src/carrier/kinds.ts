// The names of the carriers in options.

/**
 * `native` brings visitors over a few TLS connections, `native-sessions` each over a separate one, and
 * `websocket` over WebSockets.
 */
export const CARRIERS = ['native', 'native-sessions', 'websocket'] as const

/** CarrierKind is the name of a carrier. */
export type CarrierKind = (typeof CARRIERS)[number]
