// A client's side of a carrier, by hand: a WebSocket or a native connection, yamux on it, and literal bytes on its streams.

import { once } from 'node:events'
import { encodeCapability, PATH, SUBPROTOCOL, YAMUX_UPGRADE } from '@svc/protocol'
import { Session, type Stream } from '@svc/yamux'
import { WebSocket } from 'ws'
import { apiSocket, connectRequest } from './api-socket.ts'
import { ROOT_HOST, type TestClient } from './relay.ts'

/** The connection of a carrier, on which yamux frames may be written by hand. */
export interface Link {
  /** Sends bytes, on a WebSocket as one message. Resolves when the kernel has them. */
  send(bytes: Uint8Array): Promise<void>
  /** Passes all bytes of the relay on: those that came already, too. */
  receive(listener: (bytes: Buffer) => void): void
  /** Reads nothing more. */
  pause(): void
  readonly isOpen: boolean
  /** Resolves with the WebSocket's close code, if it is one, when the connection is closed. */
  closed: Promise<number | undefined>
  close(): void
  terminate(): void
}

interface OpenedCarrier {
  session: Session
  /** Resolves with the code with which the relay closed the carrier, if it gave one. */
  closeCode: Promise<number | undefined>
  /** Opens a stream that presents `capability`. */
  open(capability: string): Promise<TestStream>
}

export interface TestCarrier extends OpenedCarrier {
  socket: WebSocket
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

/** Connects for a carrier. It rejects when the relay refuses. */
export const LINKS: [string, (relay: TestClient, capability: string) => Promise<Link>][] = [
  ['a browser', async (relay, capability) => webSocketLink(await openWebSocket(relay, capability))],
  ['a native client with yamux', nativeLink],
]

export async function openCarrier(relay: TestClient, capability: string): Promise<TestCarrier> {
  const socket = await openWebSocket(relay, capability)
  return { socket, ...carrierOn(webSocketLink(socket)) }
}

/** Speaks yamux on `link`. */
export function carrierOn(link: Link): OpenedCarrier {
  const transport = { send: (bytes: Uint8Array) => void link.send(bytes), close: () => link.close() }
  const session = new Session(transport, { role: 'client' })
  link.receive((bytes) => session.receive(bytes))
  const closeCode = link.closed.then(async (code) => {
    session.transportClosed()
    return code ?? (await session.closed)?.goAwayCode
  })
  return {
    session,
    closeCode,
    open: async (presented) => {
      const stream = await session.open()
      await stream.write(encodeCapability(presented))
      return { stream, read: reader(stream) }
    },
  }
}

async function openWebSocket(relay: TestClient, capability: string): Promise<WebSocket> {
  const socket = connectWebSocket(relay, [SUBPROTOCOL, capability])
  await once(socket, 'open')
  return socket
}

function webSocketLink(socket: WebSocket): Link {
  const received: Buffer[] = []
  let pass = (bytes: Buffer): void => void received.push(bytes)
  socket.on('message', (data) => pass(data as Buffer))
  return {
    send: (bytes) => new Promise((resolve) => socket.send(bytes, () => resolve())),
    receive: (listener) => {
      pass = listener
      for (const bytes of received.splice(0)) listener(bytes)
    },
    pause: () => socket.pause(),
    get isOpen() {
      return socket.readyState === socket.OPEN
    },
    closed: new Promise((resolve) => socket.once('close', resolve)),
    close: () => socket.close(),
    terminate: () => socket.terminate(),
  }
}

async function nativeLink(relay: TestClient, capability: string): Promise<Link> {
  const socket = await apiSocket(relay)
  socket.on('error', () => {})
  const closed = new Promise<undefined>((resolve) => socket.once('close', () => resolve(undefined)))
  socket.on('end', () => socket.destroy())
  const upgrade = ['Connection: Upgrade', `Upgrade: ${YAMUX_UPGRADE}`]
  let received = Buffer.alloc(0)
  let pass = (bytes: Buffer): void => {
    received = Buffer.concat([received, bytes])
  }
  const head = new Promise<string>((resolve) => {
    const look = (): void => {
      const end = received.indexOf('\r\n\r\n')
      if (end < 0) return
      socket.off('data', look)
      resolve(received.toString('latin1', 0, end + 4))
      received = received.subarray(end + 4)
    }
    socket.on('data', (bytes: Buffer) => pass(bytes))
    socket.on('data', look)
  })
  socket.write(connectRequest(capability, upgrade))
  const answer = (await Promise.race([head, closed])) ?? ''
  if (!answer.startsWith('HTTP/1.1 101 ')) throw new Error(answer)
  return {
    send: (bytes) => new Promise((resolve) => socket.write(bytes, () => resolve())),
    receive: (listener) => {
      pass = listener
      if (received.length > 0) listener(received)
    },
    pause: () => socket.pause(),
    get isOpen() {
      return !socket.destroyed
    },
    closed,
    close: () => socket.end(),
    terminate: () => socket.destroy(),
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
