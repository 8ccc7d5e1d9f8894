// Counts the bytes of an incomplete WebSocket message, which a client may hold back at up to 1 MiB.

import type { Duplex } from 'node:stream'
import type { MemoryMeter } from '@svc/yamux'
import type { WebSocket } from 'ws'

/**
 * Counts the incomplete message in `memory`. Call it before any other listener for messages is added.
 * @param connection the connection under the WebSocket
 */
export function meterMessages(socket: WebSocket, connection: Duplex, memory: MemoryMeter): void {
  let held = 0
  let isWhole = false
  socket.on('message', () => {
    isWhole = true
  })
  // This runs after the WebSocket's own listener, which has emitted the messages that the bytes completed. The bytes of
  // the next message in the same chunk do not count: they are at most one TLS record.
  connection.on('data', (bytes: Buffer) => {
    if (isWhole) {
      memory.hold(-held)
      held = 0
    } else {
      held += bytes.length
      memory.hold(bytes.length)
    }
    isWhole = false
  })
}
