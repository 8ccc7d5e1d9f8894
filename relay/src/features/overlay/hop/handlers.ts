// Answers `POST /sdk/route` and upgrades of `GET /sdk/route/relay`: routes over several relays (docs/operate/network.md).

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { HEADER, type HopRouteMethod } from '@svc/protocol'
import type { RequestBodies } from '../../../core/api/endpoints/body-limits.ts'
import { HOP_ROUTE_BODY } from '../../../core/api/endpoints/endpoints.ts'
import { sendData } from '../../../core/api/http/envelope.ts'
import { readJson } from '../../../core/api/http/read-body.ts'
import { headerOf } from '../../../core/api/http/request.ts'
import type { Handler, NeighbourEndpoint } from '../../../core/api/http/server.ts'
import type { LeaseCredentials } from '../../../core/auth/lease-authorizer.ts'
import type { ClientAddresses } from '../../../core/client-address/client-addresses.ts'
import { parseWith } from '../../../core/config/schema.ts'
import type { Lease } from '../../../core/lease/lease.ts'

/** Routes over several relays, as sites use them. */
export interface SiteHops {
  /** @throws RelayError `ip_banned` */
  requireAllowed(clientIp: string): void
  /** Delivers a route of the lease's owner to the relay that it is for. @throws RelayError */
  handOver(lease: Lease, method: HopRouteMethod, route: unknown): Promise<void>
  /** Joins a connection to the public port of a neighbour. @throws RelayError before anything was written */
  connect(lease: Lease, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
}

interface Parts {
  credentials: LeaseCredentials
  clientAddresses: Pick<ClientAddresses, 'ofRequest'>
}

export function createHopRouteHandler(
  hops: SiteHops,
  { credentials, bodies, clientAddresses }: Parts & { bodies: RequestBodies },
): Handler {
  return async (request, response) => {
    hops.requireAllowed(clientAddresses.ofRequest(request))
    const lease = credentials.leaseOf(headerOf(request, HEADER.accessToken), 'lease')
    const bounds = bodies.limitsOfLease(HOP_ROUTE_BODY, lease)
    const { method, route } = parseWith(HOP_ROUTE_BODY.schema, await readJson(request, response, bounds))
    await hops.handOver(lease, method, route)
    sendData(response, {})
  }
}

export function createNeighbourEndpoint(
  hops: SiteHops,
  { credentials, clientAddresses }: Parts,
): NeighbourEndpoint {
  return {
    connect: async (request, socket, head) => {
      hops.requireAllowed(clientAddresses.ofRequest(request))
      const lease = credentials.leaseOf(headerOf(request, HEADER.accessToken), 'lease')
      await hops.connect(lease, request, socket, head)
    },
  }
}
