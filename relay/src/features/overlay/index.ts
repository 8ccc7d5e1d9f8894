// The overlay as a feature, with gateways and routes over several relays. A relay without it loads none of its code.

import type { Feature, Running } from '../../feature.ts'
import { discovery } from '../discovery/index.ts'
import type { Hops } from './hop/start-hops.ts'
import { overlaySettings } from './settings.ts'

export interface RunningOverlay extends Running {
  hops: Pick<Hops, 'isReachedByRelay'>
}

export const overlay: Feature<RunningOverlay> = {
  needs: [discovery],
  settings: overlaySettings,
  checks: {
    overlay: async (settings) => (await import('./check.ts')).checkOverlay(settings),
    gateways: async (settings) => (await import('./check.ts')).checkGateways(settings),
  },
  isOn: (settings, state) => {
    const { configFile, wireguardPort } = settings.overlay
    return discovery.isOn(settings, state) && (configFile !== undefined || wireguardPort !== undefined)
  },
  start: async (core, running) => {
    const [{ startOverlay }, { startHops }, { createHopRouteHandler, createNeighbourEndpoint }] =
      await Promise.all([
        import('./start-overlay.ts'),
        import('./hop/start-hops.ts'),
        import('./hop/handlers.ts'),
      ])
    const { settings, state, dataPlane } = core
    const relays = running.get(discovery)!
    const made = await startOverlay(core, relays)
    relays.describeOverlay(() => made.own)
    const { table, gateways, network } = made
    const hops = startHops({
      ...core,
      ...state,
      ...dataPlane,
      origin: settings.url.origin,
      network,
      visitorServer: dataPlane.visitorServer,
      serveVisitor: (socket) => dataPlane.serveVisitor(socket),
    })
    for (const [name, handler] of hops.handlers) table.handlers.set(name, handler)
    for (const [path, upgrade] of hops.upgrades) table.upgrades.set(path, upgrade)
    return {
      hops,
      extensions: ['hop_routes'],
      gateways,
      isPeer: (clientIp) => hops.isPeer(clientIp),
      handlers: (api) => ({ hopRoute: createHopRouteHandler(hops, api) }),
      neighbours: (api) => createNeighbourEndpoint(hops, api),
      metrics: (metrics) => {
        made.metrics(metrics)
        hops.metrics(metrics)
      },
      listen: () => made.listen(),
      close: async () => {
        hops.close()
        await made.close()
      },
    }
  },
}
