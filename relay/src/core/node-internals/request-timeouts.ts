// Makes the deadlines of requests hold on an HTTP server that gets its sockets from another server.

import type { EventEmitter } from 'node:events'

/**
 * Node checks for slow request heads only once a server listens, so that this emits the event that starts the check.
 */
export function enforceRequestTimeouts(server: EventEmitter): void {
  server.emit('listening')
}
