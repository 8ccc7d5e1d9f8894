// An end of a path that loads it without being its bottleneck: a socket that reads into one buffer again and again.
import { once } from 'node:events'
import { Socket, type SocketConstructorOpts } from 'node:net'

/** Gets what comes; the bytes are its own only until it returns. */
export type Take = (bytes: Uint8Array) => void

/** Returns the bytes to send next, or undefined when all were sent. */
export type Next = () => Uint8Array | undefined

export interface End {
  /** Sends as fast as the path takes it, then ends its half. */
  send(next: Next): Promise<void>
  /** Settles when the other end has ended its half; rejects when the connection broke before. */
  ended: Promise<void>
}

/** Options of `connect` of net and tls: one buffer for all, since incoming bytes are counted and not kept. */
export function intoOneBuffer(take: Take): { onread: NonNullable<SocketConstructorOpts['onread']> } {
  const callback = (length: number): boolean => {
    take(READ_BUFFER.subarray(0, length))
    return true
  }
  return { onread: { buffer: READ_BUFFER, callback } }
}

const READ_BUFFER = Buffer.alloc(256 * 1024)

/** @param accepted that nothing was read from. Node has `onread` for sockets that connect only: this one gets the handle. */
export function acceptedSocket(accepted: Socket, take: Take): Socket {
  const inner = accepted as unknown as { _handle: unknown }
  const handle = inner._handle
  inner._handle = null
  const options = { handle, allowHalfOpen: true, ...intoOneBuffer(take) }
  const socket = new Socket(options as SocketConstructorOpts)
  socket.setNoDelay()
  socket.resume()
  return socket
}

export function socketEnd(socket: Socket): End {
  const ended = new Promise<void>((resolve, reject) => {
    socket.on('end', resolve)
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the connection broke')))
  })
  ended.catch(() => {})
  const send = async (next: Next): Promise<void> => {
    for (let bytes = next(); bytes !== undefined; bytes = next())
      if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), ended])
    socket.end()
  }
  return { send, ended }
}
