// A native connection as the transport of yamux: the raw bytes after the 101.

import { encryptsAtOnce } from '@svc/node-kit/sockets'
import type { ConnectionEvents, ConnectionTransport } from '@svc/sdk-core'
import type { Dialed } from './dial.ts'

/** The bytes that a multiplexed native connection buffers before its sender waits: four yamux messages. */
const CARRIER_WAITING_MAX_BYTES = 256 * 1024
/** How long the SDK waits for the relay to end a connection that the SDK has ended, before it aborts it, in milliseconds. */
const CARRIER_CLOSE_DEADLINE_MS = 2_000

/** @returns the result of `attach`, which from now on gets every byte */
export function attachTo<T extends ConnectionEvents>(
  { socket, reset }: Dialed,
  attach: (transport: ConnectionTransport) => T,
): T {
  const events = attach({
    get copies() {
      return encryptsAtOnce(socket)
    },
    send: (bytes) => {
      // The close event ends the yamux session.
      if (!socket.writable) return
      if (socket.writableLength < CARRIER_WAITING_MAX_BYTES) return void socket.write(bytes)
      return new Promise((resolve) => socket.write(bytes, () => resolve()))
    },
    close: () => {
      socket.end()
      setTimeout(() => reset(), CARRIER_CLOSE_DEADLINE_MS).unref()
    },
  })
  socket.on('data', (bytes: Buffer) => events.message(bytes))
  socket.on('end', () => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.on('close', () => events.closed(undefined))
  if (socket.destroyed) events.closed(undefined)
  return events
}
