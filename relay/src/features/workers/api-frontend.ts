// Ends TLS for the root host in a worker process: serves requests for a carrier, and forwards all others to the primary.

import { createServer, type Server, type TLSSocket } from 'node:tls'
import { PATH } from '@svc/protocol'
import { secureContext } from '../../core/api/http/server.ts'
import type { CertificateRotation } from '../../core/certificates/certificate-rotation.ts'
import { API_HEAD_DEADLINE_MS } from '../../core/http/deadlines.ts'

/** The first bytes of a connection for a carrier (RFC 9112 §3); a space or a query follows. */
const CONNECT = Buffer.from(`GET ${PATH.connect}`)
const BEHIND_CONNECT = Buffer.from(' ?')

interface ApiFrontendParts {
  certificates: CertificateRotation
  /** Called with a connection for a carrier, as if nothing had been read from it. */
  serveConnect: (connection: TLSSocket) => void
  /** Called with every other connection, in the same state. */
  forward: (connection: TLSSocket) => void
}

/** Creates the server, which does not listen: the SNI listener emits its connections. */
export function createApiFrontend({ certificates, serveConnect, forward }: ApiFrontendParts): Server {
  const server = createServer({
    ...secureContext(certificates.current),
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: API_HEAD_DEADLINE_MS,
  })
  certificates.onReplace((next) => server.setSecureContext(secureContext(next)))
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  // The server does not listen itself, so an error concerns one connection only.
  server.on('error', () => {})
  server.on('secureConnection', (connection) => {
    connection.on('error', () => connection.destroy())
    dispatch(connection, serveConnect, forward)
  })
  return server
}

function dispatch(
  connection: TLSSocket,
  serveConnect: ApiFrontendParts['serveConnect'],
  forward: ApiFrontendParts['forward'],
): void {
  let received = Buffer.alloc(0)
  const settle = (serve: (connection: TLSSocket) => void) => {
    clearTimeout(deadline)
    connection.off('readable', onReadable).off('end', giveUp).off('close', giveUp)
    if (received.length > 0) connection.unshift(received)
    serve(connection)
  }
  const giveUp = () => settle(() => connection.destroy())
  const onReadable = () => {
    const bytes: Buffer | null = connection.read()
    if (bytes === null) return
    received = Buffer.concat([received, bytes])
    const isConnect = asksToConnect(received)
    if (isConnect !== undefined) settle(isConnect ? serveConnect : forward)
  }
  const deadline = setTimeout(giveUp, API_HEAD_DEADLINE_MS)
  connection.on('readable', onReadable).on('end', giveUp).on('close', giveUp)
}

/** @returns undefined when more bytes are needed to tell */
function asksToConnect(received: Buffer): boolean | undefined {
  const common = Math.min(received.length, CONNECT.length)
  if (!received.subarray(0, common).equals(CONNECT.subarray(0, common))) return false
  const next = received[CONNECT.length]
  return next === undefined ? undefined : BEHIND_CONNECT.includes(next)
}
