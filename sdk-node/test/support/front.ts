// Stands between visitors and a relay in the tests of the probe: it passes connections on, or reads what passes.

import { connect, createServer, type Server, type Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from 'node:tls'

export interface Front {
  /** Treats connections to tenants so; those to the relay's own host are always passed on. */
  mode: 'pass' | 'terminate' | 'stall'
  close(): void
}

interface Behind {
  /** The port at which it listens; `relayPort` is the relay's. */
  port: number
  relayPort: number
  /** The relay's certificate and key: with them a server can answer for every tenant. */
  cert: string
  key: string
}

export function startFront({ port, relayPort, cert, key }: Behind): Front {
  const front: Front = { mode: 'pass', close: () => {} }
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const tlsServer = createTlsServer({ cert, key, ALPNProtocols: ['http/1.1'] }, (visitor) => {
    keep(visitor)
    const servername = (visitor as TLSSocket & { servername: string }).servername
    const onward = keep(
      connectTls({ host: '127.0.0.1', port: relayPort, servername, ca: cert, rejectUnauthorized: false }),
    )
    visitor.pipe(onward).pipe(visitor)
  })
  tlsServer.on('tlsClientError', () => {})
  const server: Server = createServer((socket) => {
    keep(socket)
    socket.once('data', (hello) => {
      socket.pause()
      const isTenant = /(?:demo|probed)[\w-]*\.relay\.localhost/.test(hello.toString('latin1'))
      if (isTenant && front.mode === 'stall') return
      socket.unshift(hello)
      if (isTenant && front.mode === 'terminate') {
        tlsServer.emit('connection', socket)
        return
      }
      const onward = keep(connect(relayPort, '127.0.0.1'))
      socket.pipe(onward).pipe(socket)
    })
  }).listen(port, '127.0.0.1')
  front.close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return front
}
