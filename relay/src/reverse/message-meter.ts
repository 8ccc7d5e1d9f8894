// Counts what has come of a WebSocket message that is not whole: up to 1 MiB for as long as its sender likes.

import type { Duplex } from 'node:stream'
import type { MemoryMeter } from '@svc/yamux'
import type { WebSocket } from 'ws'

/** To be called before anybody else listens to messages. @param connection what the WebSocket is spoken over */
export function meterMessages(socket: WebSocket, connection: Duplex, memory: MemoryMeter): void {
  let held = 0
  let isWhole = false
  socket.on('message', () => {
    isWhole = true
  })
  // Behind the listener of the WebSocket itself, which has emitted by now what the bytes completed. What they begin of
  // the next message is not counted: at most one TLS record.
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
