// Divides the file descriptors that this process may open between its listeners.

import { CONNECTIONS_MAX } from '../ingress/connection-limiter.ts'
import { SettingsError } from './settings.ts'

/**
 * Connections of other relays to the overlay server that may be open at once, those that became bridges included; and
 * as many of this relay to others.
 */
export const OVERLAY_CONNECTIONS_MAX = 8192
/** File descriptors that are not for connections: files, listeners, threads and pipes. */
export const DESCRIPTORS_RESERVED = 256
/**
 * Share of the file descriptors beyond twice `DESCRIPTORS_RESERVED` that listeners of dedicated ports may take. The
 * rest is for connections.
 */
const PORT_LISTENERS_SHARE = 0.25
/** Connections to all dedicated TCP ports together. */
const PORT_CONNECTIONS_MAX = 16_384

export interface Capacity {
  /** Connections to the SNI listener, carriers and API requests included. */
  connections: number
  /** Connections to all dedicated ports; 0 without dedicated ports. */
  portConnections: number
  /** Connections of other relays to the overlay server, and as many to them; 0 without an overlay. */
  overlayConnections: number
}

/** The listeners of a process beside the SNI listener. */
interface Listeners {
  hasTcpPorts: boolean
  hasOverlay: boolean
}

/**
 * Dedicated ports that may be open at once, each of which is a descriptor: the whole range, or a quarter of the rest.
 * @param openFiles descriptors that the process may have
 * @param wanted ports of the range, counted for each transport
 */
export function portListenersMax(openFiles: number, wanted: number): number {
  // Connections keep the minimum that connectionCapacity requires.
  const left = Math.max(0, openFiles - 2 * DESCRIPTORS_RESERVED)
  return Math.min(wanted, Math.floor(left * PORT_LISTENERS_SHARE))
}

/**
 * @param openFiles descriptors that the process may have
 * @throws SettingsError when they are too few to start
 */
export function connectionCapacity(openFiles: number, { hasTcpPorts, hasOverlay }: Listeners): Capacity {
  const wanted: Capacity = {
    connections: CONNECTIONS_MAX,
    portConnections: hasTcpPorts ? PORT_CONNECTIONS_MAX : 0,
    overlayConnections: hasOverlay ? OVERLAY_CONNECTIONS_MAX : 0,
  }
  const free = openFiles - DESCRIPTORS_RESERVED
  if (free < DESCRIPTORS_RESERVED)
    throw new SettingsError('open files', `a limit of ${openFiles} is too low: raise it (ulimit -n)`)
  const share = Math.min(
    1,
    free / (wanted.connections + wanted.portConnections + 2 * wanted.overlayConnections),
  )
  return {
    connections: Math.floor(wanted.connections * share),
    portConnections: Math.floor(wanted.portConnections * share),
    overlayConnections: Math.floor(wanted.overlayConnections * share),
  }
}

let openFiles: number | undefined

/** File descriptors that this process may have. Node raises the soft limit to the hard one at its start. */
export function openFilesMax(): number {
  // A report takes many milliseconds.
  openFiles ??= readOpenFilesMax()
  return openFiles
}

function readOpenFilesMax(): number {
  // Without excludeNetwork, which @types/node does not know, the report looks up the names of all peers.
  const report = Object.assign(process.report, { excludeNetwork: true, excludeEnv: true })
  const { userLimits } = report.getReport() as { userLimits?: { open_files: { soft: string | number } } }
  // Windows has no such limit in its report; elsewhere it may be 'unlimited'.
  const soft = userLimits?.open_files.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}
