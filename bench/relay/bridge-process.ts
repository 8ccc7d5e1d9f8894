// The relay's own pipe as a program that joins connections: `bridge-process.ts IDENTITY KIND:FROM:TO…`, IDENTITY a PEM file. It
// leaves out what a relay does before it joins two connections, such as finding the lease.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import { connect, createServer, type Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import { SUBPROTOCOL, WEBSOCKET_MESSAGE_MAX_BYTES } from '@svc/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import { createPipe } from '../../relay/src/core/bridge/pipe.ts'
import type { Lease } from '../../relay/src/core/lease/lease.ts'
import { SharedReadBuffer } from '../../relay/src/core/node-internals/shared-read-buffer.ts'
import { Bandwidth } from '../../relay/src/core/rate-limit/bandwidth.ts'
import { serveCarrier } from '../../relay/src/core/reverse/carrier.ts'
import type { ReadyQueue } from '../../relay/src/core/reverse/ready-queue.ts'
import { SessionMemories } from '../../relay/src/core/reverse/session-memory.ts'
import { webSocketConnection } from '../../relay/src/core/reverse/websocket-connection.ts'
import { type Kind, parseForward } from './forward.ts'

type Join = (visitor: Duplex) => void

const HOST = '127.0.0.1'
/** The options of the relay's listeners. */
const SOCKET = { allowHalfOpen: true, noDelay: true } as const
const UNLIMITED = new Bandwidth(() => 0)

const SERVE: Record<Kind, (join: Join) => Server> = {
  tcp: (join) => createServer(SOCKET, join),
  tls: (join) => createTlsServer({ ...SOCKET, ...certificate }, join),
  carrier: serveCarriers,
}

const memories = new SessionMemories()
const pipe = createPipe(await SharedReadBuffer.find())
const [identity = '', ...forwards] = process.argv.slice(2)
const pem = readFileSync(identity)
const certificate = { key: pem, cert: pem }
// not by the signal itself: a profile is written when a process exits
process.on('SIGTERM', () => process.exit())
for (const { kind, from, to } of forwards.map(parseForward)) {
  const server = SERVE[kind]((visitor) => void join(visitor, to)).listen(from, HOST)
  await once(server, 'listening')
}

async function join(visitor: Duplex, to: number): Promise<void> {
  visitor.on('error', () => {})
  const service = connect({ ...SOCKET, host: HOST, port: to })
  try {
    await once(service, 'connect')
    await pipe(visitor, service, UNLIMITED)
  } catch {
    visitor.destroy()
  }
}

function serveCarriers(join: Join): Server {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: WEBSOCKET_MESSAGE_MAX_BYTES,
    handleProtocols: () => SUBPROTOCOL,
  })
  const server = createHttpsServer({ ...certificate, noDelay: true })
  server.on('upgrade', (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (ws) => serveStreams(ws, socket, join)),
  )
  return server
}

/** Serves streams as the relay does, for a lease whose every session is a visitor's at once. */
function serveStreams(socket: WebSocket, connection: Duplex, join: Join): void {
  const lease = {
    ended: new AbortController().signal,
    onBlock: () => () => {},
    attachSessions: (queue: ReadyQueue) => {
      queue.offer = (session) => {
        join(session)
        return true
      }
    },
  } as unknown as Lease
  serveCarrier({
    connection: webSocketConnection(socket, connection),
    lease,
    clientIp: undefined,
    leaseOf: () => lease,
    memories,
  })
}
