// Describes what attackers know of the relay, and connects them: from addresses of their own on the loopback network.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { LeaseMetadata, RegisterResponse } from '@svc/protocol'
import { newIdentity, RelayApi } from '../../tools/relay/api-client.ts'

/** Everything that a stranger can find out, and the credentials of one honest lease that the relay's own tests may use. */
export interface Target {
  /** The relay's address. */
  url: string
  rootHost: string
  /** The port of the SNI listener; QUIC has the same number. */
  port: number
  ca: string
  /** The hostname of the honest site. */
  siteHost: string
  /** The dedicated ports of the honest service, for TCP and UDP. */
  tcpPort: number
  udpPort: number
  metricsPort: number
  adminToken: string
}

/** Attackers have a network of their own, apart from honest visitors, who come from 127.0.0.1. */
const ATTACKERS = 200

/** The address of the n-th attacker; with more than there are they share. */
export function addressOf(attacker: number): string {
  return `127.0.2.${1 + (attacker % ATTACKERS)}`
}

export interface Tls {
  tcp: Socket
  tls: TLSSocket
}

/** @returns a connected socket, or one destroyed already when the relay refused; never throws */
export async function openTcp(port: number, attacker: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: addressOf(attacker), allowHalfOpen: true })
  socket.on('error', () => {})
  await settled(socket, 'connect')
  return socket
}

/** @returns a socket after its handshake, or one destroyed already; never throws */
export async function openTls(target: Target, servername: string, attacker: number): Promise<Tls> {
  const tcp = await openTcp(target.port, attacker)
  const tls = connectTls({ socket: tcp, servername, ca: target.ca })
  tls.on('error', () => {})
  tcp.on('close', () => tls.destroy())
  await settled(tls, 'secureConnect')
  return { tcp, tls }
}

/** A lease of the attackers' own. */
export async function registerLease(
  target: Target,
  name: string,
  attacker: number,
  metadata: LeaseMetadata = {},
  ports: { tcp_enabled?: boolean } = {},
): Promise<RegisterResponse> {
  const api = new RelayApi(target.url, target.ca, 1, addressOf(attacker))
  try {
    return await api.register(newIdentity(), name, { metadata, ...ports })
  } finally {
    api.close()
  }
}

/** Resolves with the event, or with the end of the socket. */
async function settled(socket: Socket, event: string): Promise<void> {
  if (socket.destroyed) return
  const over = new AbortController()
  const { signal } = over
  await Promise.race([once(socket, event, { signal }), once(socket, 'close', { signal })]).catch(() => {})
  over.abort()
}

/** Resolves at `until`. */
export function untilThen(until: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, until - Date.now())))
}
