// The SNI listener: every public TLS connection enters here and is sent to the API or to a lease.

import { createServer, isIP, type Server, type Socket } from 'node:net'
import { CLIENT_HELLO_CONNECTION_DEADLINE_MS } from '@svc/protocol'
import { ALERT, alertRecord } from '@svc/tls/messages'
import type { ClientAddresses } from '../client-address/client-addresses.ts'
import type { Lease } from '../lease/lease.ts'
import { ROOT_ROUTE, type Route } from '../lease/route.ts'
import type { Logger } from '../log/log.ts'
import type { PolicyRules } from '../policy/policy-rules.ts'
import type { RoutingTable } from '../routing/routing-table.ts'
import { type PeekedHello, peekClientHello } from './client-hello.ts'
import type { ConnectionLimiter } from './connection-limiter.ts'

/** Idle time before TCP keep-alive probes begin on public connections. */
export const TCP_KEEPALIVE_MS = 30_000

/**
 * Proves a name to an ACME authority on a socket as if nothing had been read from it.
 * @returns false for a name without a pending proof; the socket is then untouched
 */
export type ProveName = (socket: Socket, serverName: string) => boolean

export interface SniListenerParts {
  clientAddresses: Pick<ClientAddresses, 'admit' | 'ofSocket'>
  connectionLimiter: Pick<ConnectionLimiter, 'admit' | 'bound' | 'onClientHello'>
  routes: Pick<RoutingTable<Route>, 'resolve'>
  policy: Pick<PolicyRules, 'routes'>
  /** Called with a socket as if nothing had been read from it. */
  serveRoot(socket: Socket): void
  visitors: VisitorAcceptor
  /** @default no name is proven */
  proveName?: ProveName | undefined
  /** Whether the relay has a certificate; before its first one, it serves nobody. @default it has */
  isReady?: () => boolean
  /** Connections open at once; the listener closes more, and emits 'drop'. */
  connectionsMax: number
  log: Logger
}

/** The server of the visitors of leases. */
interface VisitorAcceptor {
  /** Resolves when the visitor has left. Rejects when the visitor could not be served. */
  accept(visitor: Socket, lease: Lease, hello: PeekedHello): Promise<void>
}

export function createSniListener(parts: SniListenerParts): Server {
  const { connectionsMax, log } = parts
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    socket.on('error', () => {})
    dispatch(socket, parts).catch((error) => {
      log.error({ err: error }, 'public connection failed')
      socket.destroy()
    })
  })
  // The caller of `listen` handles an error before the server listens. A later one means that the system did not accept
  // one connection.
  server.on('error', (error) => {
    if (server.listening) log.error({ err: error }, 'a connection was not accepted')
  })
  server.maxConnections = connectionsMax
  parts.connectionLimiter.bound(connectionsMax)
  return server
}

async function dispatch(socket: Socket, parts: SniListenerParts): Promise<void> {
  const { clientAddresses, connectionLimiter, visitors } = parts
  const until = performance.now() + CLIENT_HELLO_CONNECTION_DEADLINE_MS
  if (!(await clientAddresses.admit(socket, until))) return
  const clientIp = clientAddresses.ofSocket(socket)
  if (!connectionLimiter.admit(socket, clientIp)) return
  const hello = await peekClientHello(socket, until)
  connectionLimiter.onClientHello(socket)
  if (hello === undefined) return
  socket.setKeepAlive(true, TCP_KEEPALIVE_MS)
  if (hello.isAcmeChallenge && !isCustomDomain(hello, parts)) return answerChallenge(socket, hello, parts)
  if (parts.isReady?.() === false) return refuse(socket, ALERT.internal_error)
  // A health check by address sends no server name, or the address, which is not a name (RFC 6066 §3): it means the
  // relay itself.
  const { serverName = '' } = hello
  const route = serverName === '' || isIP(serverName) !== 0 ? ROOT_ROUTE : reachable(serverName, parts)
  if (route === undefined) return refuse(socket, ALERT.unrecognized_name)
  if (route.to === 'lease') return await visitors.accept(socket, route.lease, hello)
  socket.unshift(hello.received)
  if (route.to === 'feature') await route.serve(socket, serverName, clientIp)
  else parts.serveRoot(socket)
}

/** A domain that the site owns, as its records prove: the site answers the authority, as it does any visitor. */
function isCustomDomain({ serverName = '' }: PeekedHello, parts: SniListenerParts): boolean {
  const route = reachable(serverName, parts)
  return route?.to === 'lease' && route.lease.provenAt(serverName) !== undefined
}

/** Such a connection never reaches a site of one of the relay's names, because answering it is enough to get a certificate for it. */
function answerChallenge(
  socket: Socket,
  { serverName = '', received }: PeekedHello,
  { proveName }: SniListenerParts,
): void {
  socket.unshift(received)
  if (proveName?.(socket, serverName) !== true) refuse(socket, ALERT.no_application_protocol)
}

/** To visitors, a hostname that the policy does not route, or whose feature is closed, does not exist. */
export function reachable(
  serverName: string,
  { routes, policy }: Pick<SniListenerParts, 'routes' | 'policy'>,
): Route | undefined {
  const route = routes.resolve(serverName)
  if (route?.to === 'feature') return route.isOpen() ? route : undefined
  return route?.to === 'lease' && !policy.routes(route.lease) ? undefined : route
}

function refuse(socket: Socket, alert: number): void {
  socket.end(alertRecord(alert))
  socket.destroySoon()
}
