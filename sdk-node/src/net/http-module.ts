// Parts of `node:http`, for the modules of this package that use them.

/**
 * An import of `node:http` reads each of its exports. Some of them load Node's implementation of `fetch` and WebSocket,
 * which costs 40 ms of processor time and 14 MB that a tunnel does not need. A Node without this function is too old: `publish` says so,
 * which a module that cannot be loaded could not.
 */
const http = (process.getBuiltinModule?.('node:http') ?? {}) as typeof import('node:http')

export const request: typeof http.request = http.request
