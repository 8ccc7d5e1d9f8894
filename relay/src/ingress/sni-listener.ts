// The SNI listener: every public TLS connection enters here and is sent to the API or to a tenant.

import { createServer, type Server, type Socket } from 'node:net'
import { CLIENT_HELLO_CONNECTION_DEADLINE_MS } from '@svc/protocol'
import { ALERT, alertRecord } from '@svc/tls/messages'
import type { LeaseRoute, Route } from '../lease/route.ts'
import { TCP_KEEPALIVE_MS } from '../limits.ts'
import type { Logger } from '../log/log.ts'
import { type PeekedHello, peekClientHello } from './client-hello.ts'

export interface SniListenerHandlers {
  /**
   * Reads what proxies write before the ClientHello.
   * @param until when the ClientHello has to be whole, in milliseconds of the monotonic clock
   * @returns whether the connection may go on
   */
  readProxyHeader(socket: Socket, deadline: number): Promise<boolean>
  /** Whether the relay takes the connection on. */
  admit(socket: Socket): boolean
  /** It said whom it wants. */
  onClientHello(socket: Socket): void
  resolve(serverName: string): Route | undefined
  /** Gets the socket as if nothing had been read from it. */
  serveRoot(socket: Socket): void
  serveLease(socket: Socket, hello: PeekedHello, route: LeaseRoute): Promise<void>
}

/** @param connectionsMax open at once; more are closed, and the server emits 'drop' */
export function createSniListener(ingress: SniListenerHandlers, connectionsMax: number, log: Logger): Server {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    socket.on('error', () => {})
    dispatch(socket, ingress).catch((error) => {
      log.error({ err: error }, 'public connection failed')
      socket.destroy()
    })
  })
  // Whoever starts it learns why it does not listen; later it is one connection that the system could not accept.
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
  ingress.serveRoot(socket)
}

function refuse(socket: Socket, alert: number): void {
  socket.end(alertRecord(alert))
  socket.destroySoon()
}
