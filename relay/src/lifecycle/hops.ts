// Starts routes over several relays where the relay is on an overlay. Elsewhere it loads none of their code.

import type { Socket } from 'node:net'
import type { Hops } from '../features/overlay/hop/start-hops.ts'
import type { Overlay } from './overlay.ts'
import type { RelayParts } from './parts.ts'

export type { Hops }

/**
 * @param serveVisitor serves a connection as one to the relay's public port
 * @returns undefined where the relay is on no overlay
 */
export async function startRelayHops(
  { settings, state, clientAddresses, visitors, pipe, dataPlane, workers }: RelayParts,
  overlay: Overlay | undefined,
  serveVisitor: (socket: Socket) => void,
): Promise<Hops | undefined> {
  if (overlay === undefined) return undefined
  const { startHops } = await import('../features/overlay/hop/start-hops.ts')
  const { visitorServer, bindings, bandwidths } = dataPlane
  const hops = startHops({
    ...state,
    origin: settings.url.origin,
    network: overlay.network,
    visitors,
    pipe,
    visitorServer,
    bindings,
    bandwidths,
    serveVisitor,
    clientAddresses,
    settled: () => workers.settled(),
  })
  for (const [name, handler] of hops.handlers) overlay.table.handlers.set(name, handler)
  for (const [path, upgrade] of hops.upgrades) overlay.table.upgrades.set(path, upgrade)
  return hops
}
