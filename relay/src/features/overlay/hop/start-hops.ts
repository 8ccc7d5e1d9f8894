// Starts routes over several relays: what the API offers to sites, and the overlay server to peers.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { BODY_MAX_BYTES, type HopRouteMethod, PATH } from '@svc/protocol'
import { sendData } from '../../../core/api/http/envelope.ts'
import type { Settings } from '../../../core/config/settings.ts'
import { RelayError } from '../../../core/errors.ts'
import type { Lease } from '../../../core/lease/lease.ts'
import type { FeatureRoute, Route } from '../../../core/lease/route.ts'
import type { Measured } from '../../../core/metrics/metrics.ts'
import type { PolicyRules } from '../../../core/policy/policy-rules.ts'
import type { RoutingTable } from '../../../core/routing/routing-table.ts'
import { OVERLAY_LIMITS } from '../limits.ts'
import type { OverlayHandler, OverlayUpgrade } from '../overlay-server.ts'
import { HopChanges } from './hop-changes.ts'
import { HopCounts } from './hop-counts.ts'
import { HopHandover } from './hop-handover.ts'
import { HopRoutes, isHostname } from './hop-routes.ts'
import { HopVisitors, type HopVisitorsParts } from './hop-visitors.ts'
import { PEER_CONNECTIONS } from './limits.ts'
import { registerHopMetrics } from './metrics.ts'
import { Neighbours, type NeighboursParts } from './neighbours.ts'
import { Quotas } from './quota.ts'

type HopsParts = Omit<HopVisitorsParts, 'hops' | 'counts' | 'peerQuotas' | 'limits'> &
  Omit<NeighboursParts, 'peerQuotas'> & {
    policy: PolicyRules
    settings: Pick<Settings, 'overlay'>
    /** Origin of this relay. */
    origin: string
    routes: RoutingTable<Route>
    /** Resolves when every process of the relay has received a route. */
    settled: () => Promise<void>
  }

export interface Hops extends Measured {
  /** By `METHOD /path` of the overlay server. */
  handlers: [string, OverlayHandler][]
  /** By path of the overlay server. */
  upgrades: [string, OverlayUpgrade][]
  /** @throws RelayError `ip_banned` for a client that the operator banned */
  requireAllowed(clientIp: string): void
  /** @see HopHandover.handOver */
  handOver(lease: Lease, method: HopRouteMethod, route: unknown): Promise<void>
  /** @see Neighbours.connect */
  connect(lease: Lease, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  /** Returns whether a client address is a peer's. Sites whose routes go through a peer have its address. */
  isPeer(clientIp: string): boolean
  /** @see HopRoutes.isReachedByRelay */
  isReachedByRelay(lease: Lease): boolean
  close(): void
}

export function startHops(parts: HopsParts): Hops {
  const limits = { ...OVERLAY_LIMITS, ...parts.settings.overlay.limits }
  const counts = new HopCounts()
  const peerQuotas = new Quotas<string, Lease>(PEER_CONNECTIONS)
  const features = new Map<string, FeatureRoute>()
  const hops: HopRoutes = new HopRoutes((key, entry) => {
    const known = features.get(key)
    // Only the first relay of a route has a hostname as its key.
    const isFirst = entry?.next !== undefined && isHostname(key)
    if (isFirst && known === undefined) {
      const feature = visitors.routeOf(key)
      features.set(key, feature)
      parts.routes.cover(key, feature)
    }
    if (entry === undefined && known !== undefined) {
      features.delete(key)
      parts.routes.uncover(key, known)
    }
  })
  const visitors = new HopVisitors({ ...parts, hops, counts, peerQuotas, limits })
  const neighbours = new Neighbours({ ...parts, peerQuotas })
  const changes = new HopChanges({ ...parts, hops, counts, limits })
  const handover = new HopHandover({ ...parts, hops, changes })
  const change = (method: HopRouteMethod): OverlayHandler => {
    return async (peer, request, response) => {
      changes.take(method, await readBody(request), peer)
      await parts.settled()
      sendData(response, {})
    }
  }
  return {
    handlers: [
      [`POST ${PATH.hop}`, change('POST')],
      [`DELETE ${PATH.hop}`, change('DELETE')],
    ],
    upgrades: [
      [PATH.hop, (...visitor) => visitors.accept(...visitor)],
      [PATH.neighbour, (...connection) => neighbours.accept(...connection)],
    ],
    requireAllowed: (clientIp) => {
      if (parts.policy.isAnyIpBanned(clientIp))
        throw new RelayError('ip_banned', 'this address is banned here')
    },
    handOver: (...route) => handover.handOver(...route),
    connect: (...connection) => neighbours.connect(...connection),
    isPeer: (clientIp) => parts.network.peerAt(clientIp) !== undefined,
    isReachedByRelay: (lease) => hops.isReachedByRelay(lease),
    metrics: (metrics) => registerHopMetrics(metrics, { hops, visitors, neighbours }, counts),
    close: () => hops.close(),
  }
}

/** @throws RelayError */
async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_MAX_BYTES)
      throw new RelayError('invalid_request', `the body has more than ${BODY_MAX_BYTES} bytes`, {
        Connection: 'close',
      })
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw new RelayError('invalid_json', 'the body is not JSON')
  }
}
