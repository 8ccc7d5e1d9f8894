// Starts gateways, both sides: this relay's own as a gateway of others, and the choice of gateways for its leases.

import type { GatewayChoice } from '../../../core/api/handlers/sdk.ts'
import type { Core } from '../../../core/core.ts'
import type { ConnectEndpoint, ReverseGateway } from '../../../core/reverse/connect-endpoint.ts'
import type { RunningDiscovery } from '../../discovery/index.ts'
import type { GatewayFigures } from '../metrics.ts'
import type { OverlayNetwork } from '../overlay-network.ts'
import type { OverlayHandler, OverlayUpgrade } from '../overlay-server.ts'

export interface Gateways {
  choice: GatewayChoice
  /** Undefined when other processes accept public connections: a relay of several processes is not a gateway. */
  gateway: ReverseGateway | undefined
  /** Accepts sessions that gateways carry here. */
  serve(connect: ConnectEndpoint): void
  /** Begins to probe peers. */
  start(): void
  readings(): GatewayFigures
  close(): void
}

interface Tables {
  handlers: Map<string, OverlayHandler>
  upgrades: Map<string, OverlayUpgrade>
}

export async function createGateways(
  { settings, state }: Core,
  { relays }: Pick<RunningDiscovery, 'relays'>,
  network: OverlayNetwork,
  { handlers, upgrades }: Tables,
): Promise<Gateways> {
  const [
    { answerProbe, Gateway },
    { IngressIdentities },
    { AvailableGateways },
    { GatewaysOfLeases },
    { takeCarried },
    { SourceLimits },
    { OVERLAY_LIMITS },
    paths,
  ] = await Promise.all([
    import('./gateway.ts'),
    import('./ingress-identities.ts'),
    import('./available-gateways.ts'),
    import('./gateways-of-leases.ts'),
    import('./carried-sessions.ts'),
    import('./source-limits.ts'),
    import('../limits.ts'),
    import('./paths.ts'),
  ])
  const { policy } = state
  const identity = state.identity.address
  const { probes, gatewaySourceRate } = { ...OVERLAY_LIMITS, ...settings.overlay.limits }
  const available = new AvailableGateways(network, probes)
  const choice = new GatewaysOfLeases({ available, relays, identity, origin: settings.url.origin })
  const gateway =
    settings.workers === 1
      ? new Gateway(
          network,
          new IngressIdentities(network, relays, identity),
          new SourceLimits(gatewaySourceRate),
        )
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
