// A ws socket as a transport for yamux, in the way of the relay, and as a plain pipe for raw messages.
import { once } from 'node:events'
import { SUBPROTOCOL, WEBSOCKET_MESSAGE_MAX_BYTES } from '@svc/protocol'
import { Session, type SessionOptions, type Stream } from '@svc/yamux'
import { type WebSocket, WebSocketServer } from 'ws'

const MESSAGE: Uint8Array = new Uint8Array(64 * 1024).fill(7)
/** Bytes in a socket above which its sender waits. */
const BUFFERED_MAX_BYTES: number = 1024 * 1024

export const SOCKET_OPTIONS: { perMessageDeflate: false; maxPayload: number } = {
  perMessageDeflate: false,
  maxPayload: WEBSOCKET_MESSAGE_MAX_BYTES,
}

export async function listen(): Promise<WebSocketServer> {
  const server = new WebSocketServer({
    ...SOCKET_OPTIONS,
    host: 'localhost',
    port: 0,
    handleProtocols: () => SUBPROTOCOL,
  })
  await once(server, 'listening')
  return server
}

export function sessionOver(socket: WebSocket, options: SessionOptions): Session {
  const session = new Session(
    { send: (bytes) => sendOn(socket, bytes), close: () => socket.close() },
    options,
  )
  socket.on('message', (bytes) => session.receive(bytes as Buffer))
  socket.on('close', () => session.transportClosed())
  return session
}

function sendOn(socket: WebSocket, bytes: Uint8Array): void | Promise<void> {
  if (socket.bufferedAmount < BUFFERED_MAX_BYTES) return socket.send(bytes)
  return new Promise((resolve) => socket.send(bytes, () => resolve()))
}

export async function sendRaw(socket: WebSocket, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes; sent += MESSAGE.length) await sendOn(socket, MESSAGE)
}

/** Settles when this many bytes came as messages. */
export function receiveRaw(socket: WebSocket, bytes: number): Promise<void> {
  return new Promise((resolve) => {
    let left = bytes
    socket.on('message', (message) => {
      left -= (message as Buffer).length
      if (left <= 0) resolve()
    })
  })
}

export async function sendStream(stream: Stream, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes; sent += MESSAGE.length) await stream.write(MESSAGE)
  await stream.end()
}

/** Settles when this many bytes came on a stream. */
export async function receiveStream(stream: Stream, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; ) {
    const chunk = await stream.read()
    if (chunk === undefined) throw new Error(`the stream ended ${left} bytes early`)
    left -= chunk.length
  }
}
