// Connects the relay to a live site as a visitor of it: through a reverse session, with TLS that ends at the site.

import type { Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { CLAIM_TIMEOUT_MS, CLIENT_HELLO_CONNECTION_DEADLINE_MS } from '@svc/protocol'
import { LoopbackPairs } from '../../../core/bridge/loopback-pairs.ts'
import type { VisitorServer } from '../../../core/bridge/visitor-server.ts'
import type { Visitors } from '../../../core/bridge/visitors.ts'
import { networkOf } from '../../../core/client-address/ip-address.ts'
import { peekClientHello } from '../../../core/ingress/client-hello.ts'
import type { Lease } from '../../../core/lease/lease.ts'
import type { Logger } from '../../../core/log/log.ts'
import { readyQueueOf } from '../../../core/reverse/ready-queues.ts'
import type { SiteCertificateCheck } from './certificate.ts'
import { LIVE_AWAY_WAIT_MS, LIVE_CONNECT_DEADLINE_MS } from './limits.ts'

const ALPN = 'http/1.1'

/** A client of a site, for whom the relay connects. */
export interface SiteClient {
  lease: Lease
  /** Undefined for a trusted proxy that named no client. */
  clientIp: string | undefined
  /** Aborted when the client has left. */
  left: AbortSignal
}

/** No session of the site came, or its handshake failed. */
export class SiteAway extends Error {}

/** The site's certificate is refused. */
export class SiteUntrusted extends Error {}

interface ConnectorParts {
  visitorServer: Pick<VisitorServer, 'serve' | 'addressesOf'>
  visitors: Pick<Visitors, 'visitorsOf'>
  certificateCheck: SiteCertificateCheck
  log: Logger
}

export class SiteConnector {
  readonly #parts: ConnectorParts
  readonly #pairs = new LoopbackPairs()
  readonly #open = new Set<TLSSocket>()
  /** Connections that are being opened, by lease. */
  readonly #opening = new Map<Lease, number>()

  constructor(parts: ConnectorParts) {
    this.#parts = parts
  }

  /** Connects to the site. Rejects with {@link SiteAway} or {@link SiteUntrusted}. */
  async connect(client: SiteClient): Promise<TLSSocket> {
    const { lease } = client
    if (lease.ended.aborted) throw new SiteAway('the lease has ended')
    const opening = (this.#opening.get(lease) ?? 0) + 1
    this.#opening.set(lease, opening)
    try {
      const socket = await this.#connect(client)
      await this.#check(socket, lease)
      // It may have ended already, and would emit no further event.
      if (socket.destroyed) throw new SiteAway('the site ended the connection')
      return socket
    } finally {
      const left = this.#opening.get(lease)! - 1
      if (left === 0) this.#opening.delete(lease)
      else this.#opening.set(lease, left)
    }
  }

  /** Cuts every connection. */
  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy()
    await this.#pairs.close()
  }

  async #connect(client: SiteClient): Promise<TLSSocket> {
    const { near, far } = await this.#pairs.open().catch((cause) => {
      this.#parts.log.error({ err: cause }, 'no connection to a live site: the loopback interface fails')
      throw new SiteAway('no pair of sockets', { cause })
    })
    this.#bridge(far, client).catch((error) => {
      this.#parts.log.error({ err: error }, 'visitor of a live site failed')
      far.destroy()
    })
    const socket = connectTls({
      socket: near,
      servername: client.lease.canonicalHostname,
      ALPNProtocols: [ALPN],
      secureContext: this.#parts.certificateCheck.context,
      // The certificate is checked afterwards: one that the relay itself has issued may have no root here.
      rejectUnauthorized: false,
    })
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    await handshake(socket, client.left)
    return socket
  }

  /** The site sees the relay as a visitor from the client's network, so that the network's shares and limits apply. */
  async #bridge(far: Socket, { lease, clientIp }: SiteClient): Promise<void> {
    const arrivedAt = performance.now()
    const hello = await peekClientHello(far, arrivedAt + CLIENT_HELLO_CONNECTION_DEADLINE_MS)
    if (hello === undefined) return
    await this.#parts.visitorServer.serve({
      visitor: far,
      lease,
      hello,
      arrivedAt: this.#isMostLikelyAway(lease)
        ? arrivedAt - (CLAIM_TIMEOUT_MS - LIVE_AWAY_WAIT_MS)
        : arrivedAt,
      sessionsLost: 0,
      addresses: this.#parts.visitorServer.addressesOf(far, lease, clientIp),
      network: clientIp === undefined ? undefined : networkOf(clientIp),
      isLowPriority: false,
      handedOverBy: undefined,
      // The connection of the client counts, which this one is for.
      isCounted: true,
    })
  }

  /** A site that is only busy has visitors other than those from here that have no session yet. */
  #isMostLikelyAway(lease: Lease): boolean {
    const others = this.#parts.visitors.visitorsOf(lease) - (this.#opening.get(lease) ?? 0)
    return others <= 0 && readyQueueOf(lease).size === 0
  }

  async #check(socket: TLSSocket, lease: Lease): Promise<void> {
    const { certificateCheck, log } = this.#parts
    const problem = await certificateCheck.problemOf(socket, lease)
    if (problem === undefined) return
    socket.destroy()
    log.warn({ hostname: lease.canonicalHostname, problem }, "a live site's certificate is refused")
    throw new SiteUntrusted(problem)
  }
}

/** Resolves after the handshake. Rejects with {@link SiteAway}, and then the socket is closed. */
function handshake(socket: TLSSocket, left: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let cause: unknown
    const settle = (problem?: string): void => {
      clearTimeout(deadline)
      socket.off('secureConnect', done).off('close', onClose)
      left.removeEventListener('abort', onLeft)
      if (problem === undefined) {
        resolve()
        return
      }
      socket.destroy()
      reject(new SiteAway(problem, { cause }))
    }
    const done = (): void => settle()
    const onClose = (): void => settle('the site did not finish the handshake')
    const onLeft = (): void => settle('the visitor has left')
    const deadline = setTimeout(() => settle('the handshake took too long'), LIVE_CONNECT_DEADLINE_MS)
    socket.on('error', (error) => {
      cause = error
    })
    socket.once('secureConnect', done).once('close', onClose)
    left.addEventListener('abort', onLeft)
    if (left.aborted) onLeft()
  })
}
