// A browser's side of the carrier, by hand: a WebSocket, a yamux session and literal bytes on its streams.

import { once } from 'node:events'
import { encodeCapability, PATH, SUBPROTOCOL } from '@svc/protocol'
import { Session, type Stream } from '@svc/yamux'
import { WebSocket } from 'ws'
import { ROOT_HOST, type TestClient } from './relay.ts'

export interface TestCarrier {
  socket: WebSocket
  session: Session
  /** Opens a stream that presents `capability`. */
  open(capability: string): Promise<TestStream>
}

interface TestStream {
  stream: Stream
  /** Reads exactly `length` bytes; fewer when the stream ends before. */
  read(length: number): Promise<Buffer>
}

export function connectWebSocket(relay: TestClient, protocols: string[]): WebSocket {
  // `servername` reaches tls.connect, though the types of ws do not name it.
  const options = { ca: relay.ca, servername: ROOT_HOST, headers: { Host: `${ROOT_HOST}:${relay.port}` } }
  const socket = new WebSocket(`wss://127.0.0.1:${relay.port}${PATH.connect}`, protocols, options)
  socket.on('error', () => {})
  return socket
}

export async function openCarrier(relay: TestClient, capability: string): Promise<TestCarrier> {
  const socket = connectWebSocket(relay, [SUBPROTOCOL, capability])
  await once(socket, 'open')
  const transport = { send: (bytes: Uint8Array) => socket.send(bytes), close: () => socket.close() }
  const session = new Session(transport, { role: 'client' })
  socket.on('message', (data) => session.receive(data as Buffer))
  socket.on('close', () => session.transportClosed())
  return {
    socket,
    session,
    open: async (presented) => {
      const stream = await session.open()
      await stream.write(encodeCapability(presented))
      return { stream, read: reader(stream) }
    },
  }
}

function reader(stream: Stream): (length: number) => Promise<Buffer> {
  let pending = Buffer.alloc(0)
  return async (length) => {
    while (pending.length < length) {
      const bytes = await stream.read()
      if (bytes === undefined) break
      pending = Buffer.concat([pending, bytes])
    }
    const taken = pending.subarray(0, length)
    pending = pending.subarray(taken.length)
    return taken
  }
}
