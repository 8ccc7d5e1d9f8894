// Starts gateways, both sides: this relay's own as a gateway of others, and the choice of gateways for its leases.

import type { GatewayChoice } from '../core/api/handlers/sdk.ts'
import type { ConnectEndpoint, ReverseGateway } from '../core/reverse/connect-endpoint.ts'
import type { GatewayFigures } from '../features/overlay/metrics.ts'
import type { OverlayNetwork } from '../features/overlay/overlay-network.ts'
import type { OverlayHandler, OverlayUpgrade } from '../features/overlay/overlay-server.ts'
import type { Discovery } from './discovery.ts'
import type { RelayParts } from './parts.ts'

export interface Gateways {
  choice: GatewayChoice
  /** Undefined where other processes take public connections: a relay of several processes is no gateway. */
  gateway: ReverseGateway | undefined
  /** Takes sessions that gateways carry here. */
  serve(connect: ConnectEndpoint): void
  /** Begins to ask peers. */
  start(): void
  readings(): GatewayFigures
  close(): void
}

interface Tables {
  handlers: Map<string, OverlayHandler>
  upgrades: Map<string, OverlayUpgrade>
}

export async function createGateways(
  { settings, state }: RelayParts,
  { relays }: Discovery,
  network: OverlayNetwork,
  { handlers, upgrades }: Tables,
): Promise<Gateways> {
  const [
    { answerProbe, Gateway },
    { IngressIdentities },
    { AvailableGateways },
    { GatewaysOfLeases },
    { takeCarried },
    paths,
  ] = await Promise.all([
    import('../features/overlay/gateways/gateway.ts'),
    import('../features/overlay/gateways/ingress-identities.ts'),
    import('../features/overlay/gateways/available-gateways.ts'),
    import('../features/overlay/gateways/gateways-of-leases.ts'),
    import('../features/overlay/gateways/carried-sessions.ts'),
    import('../features/overlay/gateways/paths.ts'),
  ])
  const { policy } = state
  const identity = state.identity.address
  const available = new AvailableGateways(network)
  const choice = new GatewaysOfLeases({ available, relays, identity, origin: settings.url.origin })
  const gateway =
    settings.workers === 1
      ? new Gateway(network, new IngressIdentities(network, relays, identity))
      : undefined
  handlers.set(
    `GET ${paths.GATEWAY_PATH}`,
    answerProbe(() => gateway?.limits.hasRoom === true),
  )
  policy.onChange(() =>
    gateway?.cut((peer, ip) => policy.isRelayBanned(peer.identity, peer.origin) || policy.isAnyIpBanned(ip)),
  )
  return {
    choice,
    gateway,
    serve: (connect) => {
      upgrades.set(paths.CARRIED_PATH, takeCarried(connect, choice, identity))
    },
    start: () => available.start(),
    readings: () => ({
      available: [...available].length,
      sessions: gateway?.sessions ?? 0,
      requests: { ...gateway?.counts, ...gateway?.limits.refused },
    }),
    close: () => {
      available.close()
      gateway?.cut(() => true)
    },
  }
}
