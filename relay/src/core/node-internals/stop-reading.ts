// Stops the reading of a socket at once, so that it can go to another process with what it has not read.

import type { Socket } from 'node:net'

/** A socket reads through its handle, which no documentation names. Node has no other way to stop reading at once. */
interface Internals {
  _handle?: { readStop(): void } | null
}

/** Takes what was read from `socket`. What comes later stays in the kernel. */
export function stopReading(socket: Socket): Buffer {
  const unread: Buffer[] = []
  for (let bytes = socket.read(); bytes !== null; bytes = socket.read()) unread.push(bytes)
  // Only now, for `read` may have begun to read again.
  const { _handle: handle } = socket as unknown as Internals
  handle?.readStop()
  return Buffer.concat(unread)
}
