// The settings of the overlay.

import { resolve } from 'node:path'
import type { Rate } from '@svc/node-kit/gcra'
import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { SettingsTable } from '../../core/config/setting.ts'
import { flag, portNumber } from '../../core/config/setting-values.ts'
import type { Settings } from '../../core/config/settings.ts'
import { SettingsError } from '../../core/config/settings-error.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    /** The overlay that links the relay with others. */
    overlay: OverlaySettings
  }
}

/** TCP port of the overlay server of each relay on the network that WIREGUARD_PORT makes. */
export const OVERLAY_PORT = 41_820

/** Limits of what may be held at once: by all holders, by one, and by one while half of the total is held. */
interface Shares {
  max: number
  perHolder: number
  perHolderWhenHalfFull: number
}

/** Times of the probes that ask peers whether they are gateways with room, in milliseconds. */
export interface ProbeTimes {
  /** Time between two probes of a peer. */
  intervalMs: number
  /** The longest time until a peer that did not answer is probed again: it doubles with each failure. */
  failedMaxMs: number
  /** The interval at which the relay checks for peers that it has not probed yet. */
  tickMs: number
  /** For an answer. */
  deadlineMs: number
}

/** Limits of the overlay that have no setting. */
export interface OverlayLimits {
  probes: ProbeTimes
  /** Requests with a delegated capability from one source IP (docs/protocol.md §17.2.3). An IPv6 source is its /64. */
  gatewaySourceRate: Rate
  /** Visitors that this relay forwards at once, by lease. */
  hopVisitors: Shares
  /**
   * Visitors of one lease from one network that the first relay forwards: a quarter, as for those whom a
   * site serves. No later relay knows their networks.
   */
  hopVisitorsPerNetwork: number
  /**
   * Rate of hop routes from one peer, before any signature is checked: two thousand sites send two each every 20 s.
   * It bounds the processor time for signatures, and leaves the shares of owners to `hopChangesPerOwner`.
   */
  hopChangesPerPeer: Rate
  /**
   * Rate of hop routes that one owner signs for this relay or hands over to it: as many as it may have, each every 20
   * s, in both ways.
   */
  hopChangesPerOwner: Rate
}

interface OverlaySettings {
  /** File that describes the overlay between gateways and ingress relays; undefined: the relay has no gateways. */
  configFile: string | undefined
  /** UDP port of WireGuard; undefined: the relay makes no overlay itself. */
  wireguardPort: number | undefined
  /** Whether the next relay of a route, and so the site, does not get the addresses of visitors who come in here. */
  hidesVisitors: boolean
  /** Limits for a program that starts the relay in its own process, as tests do. They have no settings. */
  limits?: Partial<OverlayLimits>
}

const TABLE = {
  OVERLAY_CONFIG: {
    meaning: 'JSON file that describes the overlay network of this relay, and turns gateways on',
    unset: 'no gateways',
    isOfOneMachine: true,
    parse: (value) => resolve(value),
  },
  WIREGUARD_PORT: {
    meaning:
      'UDP port at which WireGuard links the relay with others; needs DISCOVERY and the rights to configure networks',
    unset: 'no WireGuard',
    isOfOneMachine: true,
    parse: portNumber,
  },
  HOP_HIDE_VISITORS: {
    meaning: 'keeps the addresses of visitors from the next relay of a route, and so from the site',
    default: 'false',
    parse: flag,
  },
} satisfies SettingsTable

export const overlaySettings: FeatureSettings = {
  table: TABLE,
  read: (reader) => {
    const { read, optional } = reader.of(TABLE)
    const [configFile, wireguardPort] = [optional('OVERLAY_CONFIG'), optional('WIREGUARD_PORT')]
    return {
      overlay: { configFile, wireguardPort, hidesVisitors: read('HOP_HIDE_VISITORS') },
      hasOverlay: (configFile ?? wireguardPort) !== undefined,
      overlayPort: wireguardPort === undefined ? undefined : OVERLAY_PORT,
      // The relay opens these ports once it can make its overlay.
      reservedPorts: wireguardPort === undefined ? [] : [wireguardPort, OVERLAY_PORT],
    }
  },
  check,
}

/** @throws SettingsError for an overlay without discovery, which finds its peers, or without a port of its own */
function check({ overlay, hasOverlay, discovery, portGates, portRange, sniPort }: Settings): void {
  const { configFile, wireguardPort } = overlay
  if (hasOverlay && !discovery.isEnabled)
    throw new SettingsError(
      configFile === undefined ? 'WIREGUARD_PORT' : 'OVERLAY_CONFIG',
      'needs DISCOVERY=true: peers are relays whose descriptors were verified',
    )
  const hasTunnels = portGates.udp && portRange !== undefined
  if (hasTunnels && wireguardPort === sniPort)
    throw new SettingsError(
      'WIREGUARD_PORT',
      `${wireguardPort} is the UDP port of datagram tunnels (SNI_PORT)`,
    )
}
