// Ends a connection whose client may still send: closing it with unread bytes would reset it, and the reset can overtake the answer.

import type { Duplex } from 'node:stream'
import { LINGER_MAX_BYTES, LINGER_MS } from './limits.ts'

/** Sends the answer and ends this direction, then drops further input for a short time (RFC 9112 §9.6). */
export function lingeringEnd(socket: Duplex, answer: string): void {
  let dropped = 0
  const cut = (): void => void socket.destroy()
  const late = setTimeout(cut, LINGER_MS)
  socket.once('close', () => clearTimeout(late))
  socket.on('error', cut)
  socket.removeAllListeners('data')
  socket.on('data', (bytes: Buffer) => {
    dropped += bytes.length
    if (dropped > LINGER_MAX_BYTES) cut()
  })
  socket.once('end', () => {
    if (socket.writableFinished) cut()
    else socket.once('finish', cut)
  })
  socket.end(answer, 'latin1')
  socket.resume()
}
