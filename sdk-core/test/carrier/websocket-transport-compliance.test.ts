// yamux's compliance suite over WebSockets: a page's transport at one end, the relay's at the other.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Session, type Stream, type Transport } from '@svc/yamux'
import { afterAll, beforeAll } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { webSocketTransport } from '../../../relay/src/core/reverse/websocket-connection.ts'
import { atDepth } from '../../../tools/test-depth.ts'
import { compliance } from '../../../yamux/test/support/compliance.ts'
import type { Peer } from '../../../yamux/test/support/pair.ts'
import { openWebSocket } from '../../src/carrier/websocket-transport.ts'

let server: WebSocketServer
beforeAll(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  await once(server, 'listening')
})
afterAll(() => void server.close())

/** The socket opens meanwhile: until then the transports are saturated. */
function connect(): { client: Peer; server: Peer } {
  const far = Promise.withResolvers<WebSocket>()
  const near = Promise.withResolvers<Transport>()
  const client = peer('client', near.promise)
  const uncounted = { hold: () => {}, mayGrow: true }
  const relay = peer(
    'server',
    far.promise.then((socket) => webSocketTransport(socket, uncounted)),
  )
  server.once('connection', (socket) => {
    socket.on('message', (data) => relay.session.receive(data as Buffer))
    socket.on('close', () => relay.session.transportClosed())
    far.resolve(socket)
  })
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const attach = (transport: Transport) => {
    near.resolve(transport)
    return {
      message: (bytes: Uint8Array) => client.session.receive(bytes),
      closed: () => client.session.transportClosed(),
    }
  }
  openWebSocket({ url, capability: 'capability' }, attach, new AbortController().signal)
  return { client, server: relay }
}

function peer(role: 'client' | 'server', opening: Promise<Transport>): Peer {
  let open: Transport | undefined
  opening.then((transport) => {
    open = transport
  })
  const accepted: Stream[] = []
  const waiting: ((stream: Stream) => void)[] = []
  const session = new Session(
    {
      send: (bytes) => (open ? open.send(bytes) : opening.then((transport) => transport.send(bytes))),
      close: () => void opening.then((transport) => transport.close()),
    },
    {
      role,
      keepAliveIntervalMs: 0,
      onStream: (stream) => {
        const next = waiting.shift()
        if (next) next(stream)
        else accepted.push(stream)
      },
    },
  )
  return {
    session,
    accept: () => {
      const stream = accepted.shift()
      return stream ? Promise.resolve(stream) : new Promise((resolve) => waiting.push(resolve))
    },
  }
}

compliance('a WebSocket', connect, {
  sequential: atDepth(10_000, 2_000),
  bulkBytes: 4_000_000,
  properties: 20,
})
