// Makes the deadlines of requests hold on an HTTP server that gets its sockets from another server.

import type { EventEmitter } from 'node:events'

/** Node looks for heads that are too slow only once a server listens. It begins to when the server says so. */
export function enforceRequestTimeouts(server: EventEmitter): void {
  server.emit('listening')
}
