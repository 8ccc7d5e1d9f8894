// The bound of an option that its check and the sentence about it name: a page loads sentences when it needs one.

/**
 * The largest `maxConnections`: together with connections that are being closed, they fit on
 * `CARRIER_CONNECTIONS_MAX` connections.
 */
export const CONNECTIONS_MAX = 3500
