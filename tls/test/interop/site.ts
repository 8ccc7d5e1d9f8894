// The server side of one cell: the engine behind a TCP port, a few HTTP resources, and a record of what happened.

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type ConnectionInfo, type ServerConfig, TicketSealer, webCrypto } from '../../src/index.ts'
import { HANDSHAKE_TYPE } from '../../src/messages/index.ts'
import { type Session, serve } from '../support/endpoint.ts'
import { encodeResponse, type HttpRequest, requestReader } from './http.ts'
import { type Observed, observe } from './observe.ts'

export const EXPORTER_LABEL = 'EXPORTER-interop'
export const EXPORTER_BYTES = 32

/** What is known of a connection that brought a request. */
export interface Served {
  info: ConnectionInfo
  /** There was a HelloRetryRequest (RFC 8446 §4.1.4). */
  retried: boolean
  /** So far, in both directions together. */
  readonly keyUpdates: number
  padded: number
  /** The certificate was sent as a CompressedCertificate. */
  compressed: boolean
  exported: string
  request: HttpRequest
}

export interface Site {
  port: number
  served: Served[]
  sessions: Session[]
  close(): void
}

export async function startSite(config: ServerConfig, resource: Uint8Array): Promise<Site> {
  const sessions: Session[] = []
  const served: Served[] = []
  const tickets = new TicketSealer()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const observed: Observed = { keys: 0, padded: 0 }
    let [retried, compressed, keysBefore, exported] = [false, false, 0, '']
    const read = requestReader((request) => {
      served.push({
        info: session.info!,
        retried,
        get keyUpdates() {
          return observed.keys - keysBefore
        },
        padded: observed.padded,
        compressed,
        exported,
        request,
      })
      void session.tls.write(encodeResponse(resource, request.more))
      if (!request.more) void session.tls.end()
    })
    const own: ServerConfig = {
      ...config,
      tickets,
      crypto: observe(webCrypto, observed),
      sign: (request, signal) => {
        retried = 'helloRetryRequest' in request
        compressed = request.certificate[0] === HANDSHAKE_TYPE.compressed_certificate
        return config.sign(request, signal)
      },
    }
    const secure = ({ tls }: Session) => {
      keysBefore = observed.keys
      exported = Buffer.from(tls.exportKeyingMaterial(EXPORTER_LABEL, undefined, EXPORTER_BYTES)).toString(
        'hex',
      )
    }
    const data = (_: Session, bytes: Uint8Array) => read(bytes)
    const session = serve(own, { secure, data }, socket, Number.POSITIVE_INFINITY)
    sessions.push(session)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    served,
    sessions,
    close: () => {
      server.close()
      for (const { socket } of sessions) socket.destroy()
    },
  }
}
