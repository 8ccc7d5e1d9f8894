// Ends TLS for visitors of sites that are away. It looks for the end of a request's head, and keeps nothing of the request.

import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import { REQUEST_HEAD_MAX_BYTES } from '@svc/node-kit/http'
import { ALERT, alertRecord } from '@svc/tls/messages'
import type { ServerCertificate, ServerCertificates } from '../../core/certificates/server-certificate.ts'
import { networkOf } from '../../core/client-address/ip-address.ts'
import type { RateLimits } from '../../core/rate-limit/client-rate-limits.ts'
import { awayAnswer } from './away-document.ts'
import { HeadEnd } from './head-end.ts'
import { AWAY_CONNECTIONS_MAX, AWAY_CONNECTIONS_PER_NETWORK_MAX, AWAY_DEADLINE_MS } from './limits.ts'

export interface AwayServerParts {
  /** Origin of the relay's URL. */
  origin: string
  certificates: Pick<ServerCertificates, 'of'>
  rateLimits: Pick<RateLimits, 'chargeGoVisit'>
}

export class AwayServer {
  readonly #parts: AwayServerParts
  readonly #contexts = new WeakMap<ServerCertificate, SecureContext>()
  readonly #open = new Set<Socket>()
  readonly #byNetwork = new Map<string, number>()

  constructor(parts: AwayServerParts) {
    this.#parts = parts
  }

  /**
   * Answers one request, and ends the connection. A visitor beyond the bounds is refused as at a name that nobody has.
   * @param socket paused, as if nothing had been read from it
   */
  async serve(socket: Socket, serverName: string, clientIp = ''): Promise<void> {
    const certificate = this.#parts.certificates.of(serverName)
    const network = clientIp === '' ? '' : networkOf(clientIp)
    if (certificate === undefined || !this.#enter(socket, clientIp, network)) {
      socket.end(alertRecord(ALERT.unrecognized_name))
      socket.destroySoon()
      return
    }
    const connection = new TLSSocket(socket, {
      isServer: true,
      secureContext: this.#contextOf(certificate),
      // Browsers share an HTTP/2 connection among all hosts of a certificate.
      ALPNProtocols: ['http/1.1'],
    })
    const deadline = setTimeout(() => socket.destroy(), AWAY_DEADLINE_MS)
    socket.once('close', () => clearTimeout(deadline))
    // After the handshake, Node reports an error only by the second one.
    for (const event of ['error', '_tlsError'])
      connection.on(event, () => setImmediate(() => socket.destroy()))
    this.#answer(connection, serverName)
  }

  close(): void {
    for (const socket of this.#open) socket.destroy()
  }

  #answer(connection: TLSSocket, serverName: string): void {
    const head = new HeadEnd(REQUEST_HEAD_MAX_BYTES)
    connection.on('data', (bytes: Buffer) => {
      const state = head.take(bytes)
      // What the visitor sends is the site's: it does not stay in memory.
      bytes.fill(0)
      if (state === 'open') return
      connection.removeAllListeners('data')
      connection.pause()
      if (state === 'too_long') {
        connection.destroy()
        return
      }
      const label = serverName.slice(0, serverName.indexOf('.'))
      connection.end(awayAnswer(label, this.#parts.origin, !head.isHead))
    })
  }

  /** Counts a connection until it closes. @returns whether there may be one more */
  #enter(socket: Socket, clientIp: string, network: string): boolean {
    const ofNetwork = this.#byNetwork.get(network) ?? 0
    if (this.#open.size >= AWAY_CONNECTIONS_MAX || ofNetwork >= AWAY_CONNECTIONS_PER_NETWORK_MAX) return false
    try {
      if (clientIp !== '') this.#parts.rateLimits.chargeGoVisit(clientIp)
    } catch {
      return false
    }
    this.#open.add(socket)
    this.#byNetwork.set(network, ofNetwork + 1)
    socket.once('close', () => this.#leave(socket, network))
    return true
  }

  #leave(socket: Socket, network: string): void {
    this.#open.delete(socket)
    const left = (this.#byNetwork.get(network) ?? 1) - 1
    if (left > 0) this.#byNetwork.set(network, left)
    else this.#byNetwork.delete(network)
  }

  #contextOf(certificate: ServerCertificate): SecureContext {
    const known = this.#contexts.get(certificate)
    if (known !== undefined) return known
    const { key, chain: cert } = certificate
    // TLS 1.3 only: a signature of TLS 1.2 names no host, and sites share the key (decision 0016).
    const context = createSecureContext({ key, cert, minVersion: 'TLSv1.3' })
    this.#contexts.set(certificate, context)
    return context
  }
}
