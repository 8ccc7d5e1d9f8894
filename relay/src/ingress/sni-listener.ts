// Accepts every public TLS connection and passes it by its server name to the API or to a lease.

import { createServer, type Server, type Socket } from 'node:net'
import { CLIENT_HELLO_CONNECTION_DEADLINE_MS } from '@svc/protocol'
import { ALERT, alertRecord } from '@svc/tls/messages'
import type { LeaseRoute, Route } from '../lease/route.ts'
import { TCP_KEEPALIVE_MS } from '../limits.ts'
import type { Logger } from '../log/log.ts'
import { type PeekedHello, peekClientHello } from './client-hello.ts'

export interface SniListenerHandlers {
  /**
   * Reads the PROXY header of a trusted proxy.
   * @param deadline when the ClientHello has to be complete, in milliseconds of the monotonic clock
   * @returns whether the connection may go on
   */
  readProxyHeader(socket: Socket, deadline: number): Promise<boolean>
  /** @returns whether the relay admits the connection */
  admit(socket: Socket): boolean
  /** Called when the ClientHello is complete, or its connection has failed. */
  onClientHello(socket: Socket): void
  resolve(serverName: string): Route | undefined
  /** Called with a connection to the root host, from which nothing seems to have been read. */
  serveRoot(socket: Socket): void
  serveLease(socket: Socket, hello: PeekedHello, route: LeaseRoute): Promise<void>
}

/**
 * Creates the listener; the caller makes it listen.
 * @param connectionsMax connections that may be open at once; the server closes more and emits 'drop'
 */
export function createSniListener(ingress: SniListenerHandlers, connectionsMax: number, log: Logger): Server {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    socket.on('error', () => {})
    dispatch(socket, ingress).catch((error) => {
      log.error({ err: error }, 'public connection failed')
      socket.destroy()
    })
  })
  // An error before it listens is for the caller; a later one concerns one connection that the system could not accept.
  server.on('error', (error) => {
    if (server.listening) log.error({ err: error }, 'a connection was not accepted')
  })
  server.maxConnections = connectionsMax
  return server
}

async function dispatch(socket: Socket, ingress: SniListenerHandlers): Promise<void> {
  const deadline = performance.now() + CLIENT_HELLO_CONNECTION_DEADLINE_MS
  if (!(await ingress.readProxyHeader(socket, deadline)) || !ingress.admit(socket)) return
  const hello = await peekClientHello(socket, deadline)
  ingress.onClientHello(socket)
  if (hello === undefined) return
  socket.setKeepAlive(true, TCP_KEEPALIVE_MS)
  // RFC 8446 §9.2: the answer to a client that names no server.
  if (hello.serverName === undefined) return refuse(socket, ALERT.missing_extension)
  const route = ingress.resolve(hello.serverName)
  if (route === undefined) return refuse(socket, ALERT.unrecognized_name)
  if (route.to === 'lease') return await ingress.serveLease(socket, hello, route)
  socket.unshift(hello.received)
  if (route.to === 'feature') await route.serve(socket, hello.serverName)
  else ingress.serveRoot(socket)
}

function refuse(socket: Socket, alert: number): void {
  socket.end(alertRecord(alert))
  socket.destroySoon()
}
