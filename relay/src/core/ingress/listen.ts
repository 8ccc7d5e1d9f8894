// Starts the relay's listeners.

import { once } from 'node:events'
import type { ListenOptions, Server } from 'node:net'
import { type CoreSettings, type FeatureFacts, SettingsError } from '../config/settings.ts'
import { refuseOverlayPeers } from './refuse-overlay-peers.ts'

/**
 * Connections that the kernel keeps until the relay accepts them, if the system allows (`net.core.somaxconn`). The
 * relay accepts all of them in one turn of the event loop, at some 60 µs each, so more would delay the open
 * connections.
 */
export const LISTEN_BACKLOG = 512

/** Listens without sharing the port at first: on a shared port another relay could take half of the connections. */
export async function listenForAll(listener: Server, settings: CoreSettings & FeatureFacts): Promise<void> {
  const { sniPort: port, listenAddress: host, workers, overlayPort } = settings
  refuseOverlayPeers(listener, overlayPort)
  await listen(listener, { port, host, backlog: LISTEN_BACKLOG })
  if (workers === 1) return
  listener.close()
  await once(listener, 'close')
  await listen(listener, { port, host, backlog: LISTEN_BACKLOG, reusePort: true }).catch((error) => {
    throw error.code === 'ENOTSUP' ? new SettingsError('SVC_WORKERS', 'this system takes only 1') : error
  })
}

/**
 * Starts a plain HTTP server that refuses peers of the overlay.
 * @param setting name of the setting that has the address
 * @throws SettingsError when the address cannot be bound
 */
export async function listenAt(
  server: Server,
  address: ListenOptions,
  setting: string,
  { overlayPort }: FeatureFacts,
): Promise<void> {
  refuseOverlayPeers(server, overlayPort)
  await listen(server, address).catch((error: Error) => {
    throw new SettingsError(setting, error.message)
  })
}

async function listen(server: Server, address: ListenOptions): Promise<void> {
  server.listen(address)
  await once(server, 'listening')
}

/** @returns why the relay cannot listen at a port, with the operator's remedy; undefined for another error */
export function listenProblem(error: unknown): string | undefined {
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  if (code === 'EADDRNOTAVAIL')
    return `this machine has no address ${address}: set BIND_ADDRESS to one that it has`
  if (code === 'EADDRINUSE')
    return `another program listens on port ${port}: end it, or set SVC_URL to an address with another port`
  if (code === 'EACCES' && port !== undefined)
    return `port ${port} needs more privileges; set SNI_PORT to another port`
  return undefined
}
