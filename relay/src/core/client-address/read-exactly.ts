// Reads an exact number of bytes from a socket and leaves the rest in it.

import type { Socket } from 'node:net'

/** @throws Error when the bytes have not arrived within `ms` milliseconds, or the socket ended before */
export function readExactly(socket: Socket, bytes: number, ms: number): Promise<Buffer> {
  if (bytes === 0) return Promise.resolve(Buffer.alloc(0))
  return new Promise((resolve, reject) => {
    const settle = (outcome: () => void) => {
      clearTimeout(deadline)
      socket.off('readable', tryRead).off('end', fail).off('close', fail)
      outcome()
    }
    const tryRead = () => {
      const read: Buffer | null = socket.read(bytes)
      if (read === null) return
      // At the end of the stream there may be fewer.
      if (read.length < bytes) fail()
      else settle(() => resolve(read))
    }
    const fail = () => settle(() => reject(new Error(`${bytes} bytes did not come`)))
    const deadline = setTimeout(fail, ms)
    socket.on('readable', tryRead).on('end', fail).on('close', fail)
    tryRead()
  })
}
