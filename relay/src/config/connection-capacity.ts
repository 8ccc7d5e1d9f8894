// How many connections this process can hold: what it may open, shared between its listeners.

import {
  CONNECTIONS_MAX,
  DESCRIPTORS_RESERVED,
  PORT_CONNECTIONS_MAX,
  PORT_LISTENERS_SHARE,
} from '../limits.ts'
import { SettingsError } from './settings.ts'

export interface Capacity {
  /** To the SNI listener, carriers and API requests included. */
  connections: number
  /** To all dedicated ports; 0 when there are none. */
  portConnections: number
}

/**
 * How many dedicated ports may be open at once, each of which is a descriptor: all of the range, or a quarter of what is left.
 * @param openFiles descriptors that the process may have
 * @param wanted one for each port and transport
 */
export function portListenersOf(openFiles: number, wanted: number): number {
  // as little as the process cannot do without anyway stays for connections
  const left = Math.max(0, openFiles - 2 * DESCRIPTORS_RESERVED)
  return Math.min(wanted, Math.floor(left * PORT_LISTENERS_SHARE))
}

/**
 * @param openFiles descriptors that the process may have
 * @throws SettingsError when they are not enough to begin with
 */
export function capacityOf(openFiles: number, hasTcpPorts: boolean): Capacity {
  const wanted = { connections: CONNECTIONS_MAX, portConnections: hasTcpPorts ? PORT_CONNECTIONS_MAX : 0 }
  const free = openFiles - DESCRIPTORS_RESERVED
  if (free < DESCRIPTORS_RESERVED)
    throw new SettingsError('open files', `${openFiles} are too few: raise the limit (ulimit -n)`)
  const share = Math.min(1, free / (wanted.connections + wanted.portConnections))
  return {
    connections: Math.floor(wanted.connections * share),
    portConnections: Math.floor(wanted.portConnections * share),
  }
}

/** Node has raised the soft limit to the hard one by the time that this is asked. */
export function openFilesMax(): number {
  // @types/node does not know the first: without it the report looks up the names of all peers
  const report = Object.assign(process.report, { excludeNetwork: true, excludeEnv: true })
  const { userLimits } = report.getReport() as { userLimits?: { open_files: { soft: string | number } } }
  // On Windows there is no such limit, and none in the report; elsewhere it may be 'unlimited'.
  const soft = userLimits?.open_files.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}
