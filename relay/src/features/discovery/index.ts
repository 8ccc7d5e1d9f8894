// Discovery as a feature: how relays learn of each other. A relay without it loads none of its code.

import type { BodyWriter } from '../../core/api/http/body-writer.ts'
import type { Handler } from '../../core/api/http/server.ts'
import type { Feature, Running } from '../../feature.ts'
import type { OwnOverlay } from './own-descriptor.ts'
import { discoverySettings } from './settings.ts'
import type { Discovery } from './start-discovery.ts'

export type { OwnOverlay }

export interface RunningDiscovery
  extends Running,
    Pick<Discovery, 'relays' | 'peers' | 'sites' | 'useOverlay'> {
  /** Makes another handler of `GET /discovery`, whose lists `writer` sends. */
  listFor(writer: BodyWriter): Handler
  /** @param own what the relay's descriptor states about its overlay, read when a descriptor is made */
  describeOverlay(own: () => OwnOverlay | undefined): void
}

export const discovery: Feature<RunningDiscovery> = {
  settings: discoverySettings,
  checks: { discovery: async (settings) => (await import('./check.ts')).checkDiscovery(settings) },
  isOn: (settings) => settings.discovery.isEnabled,
  start: async ({ settings, state, visitors, log }) => {
    const [{ startDiscovery }, { createDiscoveryHandlers, createDiscoveryList }] = await Promise.all([
      import('./start-discovery.ts'),
      import('./handlers.ts'),
    ])
    const { identity, policy, writeHealth, certificates } = state
    const hasPorts = settings.portRange !== undefined
    let overlay: () => OwnOverlay | undefined = () => undefined
    const running = await startDiscovery({
      settings: settings.discovery,
      origin: settings.url.origin,
      identity,
      directory: settings.identityPath,
      ownState: () => {
        const { udp, tcp_port } = policy.settings
        const { fromVisitors, toVisitors } = visitors.traffic
        return {
          udp: hasPorts && udp.enabled,
          tcp: hasPorts && tcp_port.enabled,
          connections: visitors.size,
          bytes: fromVisitors + toVisitors,
          overlay: overlay(),
        }
      },
      policy,
      health: writeHealth,
      log,
    })
    const { relays, peers, sites } = running
    return {
      useOverlay: (ask) => running.useOverlay(ask),
      listFor: (writer) => createDiscoveryList(running, writer),
      relays,
      peers,
      sites,
      describeOverlay: (own) => {
        overlay = own
      },
      domain: () => ({ discovery: true }),
      handlers: (api) => createDiscoveryHandlers(running, api),
      metrics: (metrics) => running.metrics(metrics),
      // Other relays authenticate this one by its certificate.
      listen: () => certificates.first(async () => running.start()),
      close: () => running.close(),
    }
  },
}
