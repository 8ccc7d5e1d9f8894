// Parts of `node:http`, for the modules of the relay that use them.

/**
 * An import of `node:http` reads each of its exports. Some of them load Node's implementation of `fetch` and WebSocket,
 * which costs 40 ms of processor time and 14 MB that a relay does not need.
 */
const http: typeof import('node:http') = process.getBuiltinModule('node:http')

export const createServer: typeof http.createServer = http.createServer
export const request: typeof http.request = http.request
export const IncomingMessage: typeof http.IncomingMessage = http.IncomingMessage
export type IncomingMessage = InstanceType<typeof http.IncomingMessage>
