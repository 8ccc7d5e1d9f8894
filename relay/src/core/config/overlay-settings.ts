// The settings of the overlay.

import { resolve } from 'node:path'
import type { Setting } from './setting.ts'
import { portNumber } from './setting-values.ts'
import { SettingsError } from './settings-error.ts'

/** TCP port of the overlay server of each relay on the network that WIREGUARD_PORT makes. */
export const OVERLAY_PORT = 41_820

export interface OverlaySettings {
  /** File that describes the overlay over which gateways and ingress relays talk; undefined: the relay has no gateways. */
  configFile: string | undefined
  /** UDP port of WireGuard; undefined: the relay makes no overlay itself. */
  wireguardPort: number | undefined
}

interface OverlayTable {
  OVERLAY_CONFIG: Setting<string>
  WIREGUARD_PORT: Setting<number>
}

/** The rows of these settings, in the order in which `--help` lists them. */
export const OVERLAY_TABLE: OverlayTable = {
  OVERLAY_CONFIG: {
    meaning: 'JSON file that describes the overlay network of this relay, and turns gateways on',
    unset: 'no gateways',
    parse: (value) => resolve(value),
  },
  WIREGUARD_PORT: {
    meaning:
      'UDP port at which WireGuard links the relay with others; needs DISCOVERY and the rights to configure networks',
    unset: 'no WireGuard',
    parse: portNumber,
  },
}

/**
 * @param quicPort UDP port of the datagram tunnels; undefined where there are none
 * @throws SettingsError for an overlay without the discovery that its peers come from, or without a port of its own
 */
export function possibleOverlay(
  overlay: OverlaySettings,
  hasDiscovery: boolean,
  quicPort: number | undefined,
): OverlaySettings {
  const { configFile, wireguardPort } = overlay
  const needing = configFile !== undefined ? 'OVERLAY_CONFIG' : 'WIREGUARD_PORT'
  if ((configFile ?? wireguardPort) !== undefined && !hasDiscovery)
    throw new SettingsError(needing, 'needs DISCOVERY=true: peers are relays whose descriptors were verified')
  if (wireguardPort !== undefined && wireguardPort === quicPort)
    throw new SettingsError(
      'WIREGUARD_PORT',
      `${wireguardPort} is the UDP port of datagram tunnels (SNI_PORT)`,
    )
  return overlay
}

/** Ports in the range of the operator that no site gets, since the relay takes them when it can make its overlay. */
export function portsOfOverlay({ wireguardPort }: OverlaySettings): number[] {
  return wireguardPort === undefined ? [] : [wireguardPort, OVERLAY_PORT]
}
