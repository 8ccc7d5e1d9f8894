// The clients of a bridge, which reach it as visitors and SDKs reach a relay: by TCP, by TLS, and by streams of a WebSocket.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { encodeCapability, STREAM_ANSWER, SUBPROTOCOL } from '@svc/protocol'
import type { Session, Stream } from '@svc/yamux'
import { WebSocket } from 'ws'
import { SOCKET_OPTIONS, sessionOver } from '../carrier/websocket-end.ts'
import { GREETING } from './backend.ts'
import type { Kind } from './forward.ts'
import { type End, intoOneBuffer, type Next, socketEnd, type Take } from './socket-end.ts'

export interface Entrance {
  port: number
  /** PEM of the authority, where it speaks TLS. */
  ca: string
}

interface ClientEnds {
  ends: End[]
  /** Closes the connections when all is over. */
  leave(): void
}

const HOST = '127.0.0.1'
/** Nobody looks at it. */
const CAPABILITY = 'bench'
/** Every program under test has it, and the one cipher makes them comparable. */
const TLS = { servername: 'localhost', ciphers: 'TLS_AES_128_GCM_SHA256', minVersion: 'TLSv1.3' } as const

/** Opens this many connections, or streams, waits until they are there, and greets. */
export const OPEN_CLIENTS: Record<
  Kind,
  (entrance: Entrance, streams: number, take: Take) => Promise<ClientEnds>
> = {
  tcp: async ({ port }, streams, take) => {
    const options = { host: HOST, port, noDelay: true, allowHalfOpen: true, ...intoOneBuffer(take) }
    return await opened(streams, 'connect', () => connect(options))
  },
  tls: async ({ port, ca }, streams, take) => {
    const options = { ...TLS, host: HOST, port, ca, allowHalfOpen: true, ...intoOneBuffer(take) }
    return await opened(streams, 'secureConnect', () => connectTls(options))
  },
  carrier: async ({ port, ca }, streams, take) => {
    const socket = new WebSocket(`wss://${HOST}:${port}`, SUBPROTOCOL, { ...SOCKET_OPTIONS, ...TLS, ca })
    await once(socket, 'open')
    const session = sessionOver(socket, { role: 'client' })
    const open = async (): Promise<End> => streamEnd(await readyStream(session), take)
    const ends = await Promise.all(Array.from({ length: streams }, open))
    return { ends, leave: () => session.close() }
  },
}

/** Makes a ready stream as an SDK does: it shows a capability, and the relay answers with one byte. */
async function readyStream(session: Session): Promise<Stream> {
  const stream = await session.open()
  await stream.write(encodeCapability(CAPABILITY))
  const answer = await stream.read()
  if (answer?.length !== 1 || answer[0] !== STREAM_ANSWER.accepted) throw new Error('a stream was refused')
  await stream.write(GREETING)
  return stream
}

async function opened(streams: number, event: string, open: () => Socket): Promise<ClientEnds> {
  const sockets = Array.from({ length: streams }, open)
  await Promise.all(sockets.map((socket) => once(socket, event)))
  for (const socket of sockets) socket.write(GREETING)
  return {
    ends: sockets.map(socketEnd),
    leave: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

function streamEnd(stream: Stream, take: Take): End {
  const receive = async (): Promise<void> => {
    for (let bytes = await stream.read(); bytes !== undefined; bytes = await stream.read()) take(bytes)
  }
  const ended = receive()
  ended.catch(() => {})
  const send = async (next: Next): Promise<void> => {
    for (let bytes = next(); bytes !== undefined; bytes = next()) await stream.write(bytes)
    await stream.end()
  }
  return { send, ended }
}
