// Starts discovery where the operator turned it on. A relay without it loads none of its code.

import type { OwnOverlay } from '../features/discovery/own-descriptor.ts'
import type { Discovery } from '../features/discovery/start-discovery.ts'
import type { RelayParts } from './parts.ts'

export type { Discovery }

/**
 * @param overlay what the relay says of its overlay, read when a descriptor is made
 * @throws SettingsError when the file of known relays cannot be read
 */
export async function startRelayDiscovery(
  { settings, state, visitors, log }: RelayParts,
  overlay: () => OwnOverlay | undefined,
): Promise<Discovery | undefined> {
  if (!settings.discovery.isEnabled) return undefined
  const { startDiscovery } = await import('../features/discovery/start-discovery.ts')
  const { identity, policy, writeHealth } = state
  const hasPorts = settings.portRange !== undefined
  return await startDiscovery({
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
}
