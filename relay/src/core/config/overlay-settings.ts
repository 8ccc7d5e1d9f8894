// The settings of the overlay.

import { resolve } from 'node:path'
import type { Rate } from '@svc/node-kit/gcra'
import type { Setting } from './setting.ts'
import { portNumber } from './setting-values.ts'
import { SettingsError } from './settings-error.ts'

/** TCP port of the overlay server of each relay on the network that WIREGUARD_PORT makes. */
export const OVERLAY_PORT = 41_820

/** What may be taken at once: of all holders, of one, and of one while half of all is taken. */
interface Shares {
  max: number
  perHolder: number
  perHolderWhenHalfFull: number
}

/** The times of the questions to peers whether they are gateways with room, in milliseconds. */
export interface ProbeTimes {
  /** Between two questions to a peer. */
  intervalMs: number
  /** The longest time until a peer is asked again that did not answer: the time doubles with each failure. */
  failedMaxMs: number
  /** The interval at which the relay looks for peers that it has not asked yet. */
  tickMs: number
  /** For an answer. */
  deadlineMs: number
}

/** Limits of the overlay that no setting names. */
export interface OverlayLimits {
  probes: ProbeTimes
  /** Requests with a delegated capability from one source IP (docs/protocol.md §17.2.3). An IPv6 source is its /64. */
  gatewaySourceRate: Rate
  /** Visitors that this relay passes on at once, by lease. */
  hopVisitors: Shares
  /**
   * Visitors of one lease from one network that the first relay passes on: a quarter of them, as it is of those whom a
   * site serves. No relay behind it knows their networks.
   */
  hopVisitorsPerNetwork: number
  /**
   * Hop routes that one peer may bring, before any signature is checked: two thousand sites bring two each every 20 s.
   * It bounds the processor time for signatures, and leaves the shares of owners to `hopChangesPerOwner`.
   */
  hopChangesPerPeer: Rate
  /**
   * Hop routes that one owner signs for this relay or hands over to it: as many as it may have, each every 20 s, in both
   * ways.
   */
  hopChangesPerOwner: Rate
}

export interface OverlaySettings {
  /** File that describes the overlay over which gateways and ingress relays talk; undefined: the relay has no gateways. */
  configFile: string | undefined
  /** UDP port of WireGuard; undefined: the relay makes no overlay itself. */
  wireguardPort: number | undefined
  /** Limits that a program which starts the relay in its own process has changed, as tests do. No setting names them. */
  limits?: Partial<OverlayLimits>
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
