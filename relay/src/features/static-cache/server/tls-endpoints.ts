// Ends TLS for hostnames of sites, each with its own certificate, protocols and session tickets.

import { constants } from 'node:crypto'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import type { ServerCertificate, ServerCertificates } from '../../../core/certificates/server-certificate.ts'
import { API_HEAD_DEADLINE_MS } from '../../../core/http/deadlines.ts'

/** Called after each handshake. */
export type OnSecure = (tls: TLSSocket) => void

export class TlsEndpoints {
  readonly #certificates: Pick<ServerCertificates, 'of'>
  readonly #onSecure: OnSecure
  /** Each lives as long as its certificate. */
  readonly #servers = new WeakMap<ServerCertificate, Server>()

  constructor(certificates: Pick<ServerCertificates, 'of'>, onSecure: OnSecure) {
    this.#certificates = certificates
    this.#onSecure = onSecure
  }

  /** @returns a server that does not listen, but takes connections; undefined while the relay has no certificate for the hostname */
  of(hostname: string): Server | undefined {
    const certificate = this.#certificates.of(hostname)
    if (certificate === undefined) return undefined
    const known = this.#servers.get(certificate)
    if (known !== undefined) return known
    const server = createEndpoint(certificate, this.#onSecure)
    this.#servers.set(certificate, server)
    return server
  }
}

function createEndpoint({ key, chain, isOwn }: ServerCertificate, onSecure: OnSecure): Server {
  const server = createServer(
    {
      key,
      cert: chain,
      minVersion: isOwn ? 'TLSv1.2' : 'TLSv1.3',
      ALPNProtocols: isOwn ? ['h2', 'http/1.1'] : ['http/1.1'],
      handshakeTimeout: API_HEAD_DEADLINE_MS,
      // Renegotiation is a part of TLS 1.2. No browser needs it, and each costs a handshake.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    },
    onSecure,
  )
  server.on('tlsClientError', (_error, tls) => tls.destroy())
  // The server does not listen itself, so that an error here belongs to one connection.
  return server.on('error', () => {})
}
