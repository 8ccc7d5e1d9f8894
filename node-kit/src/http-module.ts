// Parts of `node:http`, without the rest of it.

/**
 * An import of `node:http` reads all its exports. Some of them load Node's `fetch` and WebSocket,
 * which costs 40 ms of processor time and 14 MB that a relay or tunnel does not need. A Node without this function is
 * too old: the fallback lets the callers report that, which a failing import could not.
 */
const http = (process.getBuiltinModule?.('node:http') ?? {}) as typeof import('node:http')

/** As in `node:http`. */
export const createServer: typeof http.createServer = http.createServer
/** As in `node:http`. */
export const request: typeof http.request = http.request
/** As in `node:http`. */
export const IncomingMessage: typeof http.IncomingMessage = http.IncomingMessage
/** As in `node:http`. */
export type IncomingMessage = InstanceType<typeof http.IncomingMessage>
