// Measures how many connections and dedicated ports this process can hold, by the descriptors that it may have.

import { connectionCapacity, openFilesMax, portListenersMax } from './connection-capacity.ts'
import type { FeatureFacts } from './settings.ts'

export interface RelayCapacity {
  /** To the SNI listener, carriers and API requests included. */
  connections: number
  /** To all dedicated TCP ports; 0 when there are none. */
  portConnections: number
  /** Connections of other relays to the overlay server, and as many to them; 0 when the relay is on no overlay. */
  overlayConnections: number
  /** Dedicated ports that may be open at once. */
  portListeners: number
  /** Whether these are fewer than the range wants. */
  hasFewListeners: boolean
}

/** @throws SettingsError when there are too few descriptors to start */
export function measureCapacity(settings: FeatureFacts): RelayCapacity {
  const { portGates, portRange, hasOverlay } = settings
  const wanted = portsWanted(settings)
  const openFiles = openFilesMax()
  const portListeners = portListenersMax(openFiles, wanted)
  const capacity = connectionCapacity(openFiles - portListeners, {
    hasTcpPorts: portGates.tcp && portRange !== undefined,
    hasOverlay,
  })
  return { ...capacity, portListeners, hasFewListeners: portListeners < wanted }
}

/** The whole range, once for each transport that has ports. */
function portsWanted({ portGates, portRange }: FeatureFacts): number {
  if (portRange === undefined) return 0
  return (portRange.max - portRange.min + 1) * (Number(portGates.udp) + Number(portGates.tcp))
}
