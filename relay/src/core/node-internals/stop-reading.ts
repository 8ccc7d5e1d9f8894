// Stops reading a socket at once, so that it can be passed to another process with its unread bytes.

import type { Socket } from 'node:net'

/** A socket's handle, which is undocumented. Node has no other way to stop reading at once. */
interface Internals {
  _handle?: { readStop(): void } | null
}

/** Returns the bytes already read from `socket`. Later bytes stay in the kernel. */
export function stopReading(socket: Socket): Buffer {
  const unread: Buffer[] = []
  for (let bytes = socket.read(); bytes !== null; bytes = socket.read()) unread.push(bytes)
  // Only now, since `read` may have started reading again.
  const { _handle: handle } = socket as unknown as Internals
  handle?.readStop()
  return Buffer.concat(unread)
}
