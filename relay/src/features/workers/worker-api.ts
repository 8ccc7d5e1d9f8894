// The root host in a worker: carriers stay here, and every other connection to the API goes to the primary.

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { resetSocket } from '@svc/node-kit/sockets'
import { PATH } from '@svc/protocol'
import { noStaticFiles } from '../../core/api/handlers/static-files.ts'
import { RequestLog } from '../../core/api/http/request-log.ts'
import { createApiServer } from '../../core/api/http/server.ts'
import { refuseWithoutUpgrade } from '../../core/api/router.ts'
import type { LeaseAuthorizer } from '../../core/auth/lease-authorizer.ts'
import type { CertificateRotation } from '../../core/certificates/certificate-rotation.ts'
import type { ClientAddresses } from '../../core/client-address/client-addresses.ts'
import { API_IDLE_MS } from '../../core/http/deadlines.ts'
import { WriteTimeouts } from '../../core/http/write-timeouts.ts'
import type { Logger } from '../../core/log/log.ts'
import type { RelayCounters } from '../../core/metrics/relay-counters.ts'
import type { SharedReadBuffer } from '../../core/node-internals/shared-read-buffer.ts'
import type { PolicyRules } from '../../core/policy/policy-rules.ts'
import { ConnectEndpoint } from '../../core/reverse/connect-endpoint.ts'
import type { Forwarder } from './api-channel.ts'
import { createApiFrontend } from './api-frontend.ts'

interface WorkerApiParts {
  rootHost: string
  ownPorts: readonly number[]
  certificates: CertificateRotation
  clientAddresses: ClientAddresses
  authorizer: LeaseAuthorizer
  policy: PolicyRules
  counters: RelayCounters
  forwarder: Forwarder
  readBuffer: SharedReadBuffer | undefined
  log: Logger
}

export interface WorkerApi {
  connect: ConnectEndpoint
  /** Serves a connection to the root host. */
  serve: (socket: Socket) => void
}

export function createWorkerApi(parts: WorkerApiParts): WorkerApi {
  const { rootHost, ownPorts, certificates, clientAddresses, policy, counters, log } = parts
  const connect = new ConnectEndpoint(parts.authorizer, policy, counters, clientAddresses, parts.readBuffer)
  const server = createApiServer({
    rootHost,
    ownPorts,
    certificates,
    clientAddresses,
    routing: { [PATH.connect]: { GET: refuseWithoutUpgrade } },
    connect,
    pages: noStaticFiles,
    observer: new RequestLog(counters, log),
    // The next request on the same connection may be for the primary.
    isClosing: () => true,
  })
  const frontend = createApiFrontend({
    certificates,
    serveConnect: (connection) => server.emit('secureConnection', connection),
    forward: createForwarding(parts, connect),
  })
  return {
    connect,
    serve: (socket) => {
      connect.onTcpConnection(socket)
      frontend.emit('connection', socket)
    },
  }
}

/**
 * @returns a function that passes a connection on to the primary, and bounds how long it may be idle or its client may
 *   read nothing
 */
function createForwarding(
  { forwarder, clientAddresses }: WorkerApiParts,
  connect: ConnectEndpoint,
): (connection: TLSSocket) => void {
  const timeouts = new WriteTimeouts()
  return (connection) => {
    timeouts.watch(connection, () => resetSocket(connect.underlyingSocketOf(connection), connection))
    connection.setTimeout(API_IDLE_MS, () => connection.destroy())
    forwarder.forward(connection, clientAddresses.ofConnection(connection)).catch(() => connection.destroy())
  }
}
