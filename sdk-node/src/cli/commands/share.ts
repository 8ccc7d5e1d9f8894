// The sockets at which this process answers other commands of its user.

import type { StatusStore } from '../report/status-store.ts'
import { shareStatus } from './status-socket.ts'

/** The commands besides `svc status` that have something to ask. */
export interface AskedFor {
  /** Visitors may knock. */
  hasKnocks: boolean
  /** Visitors sign in, or knock: the tunnel can be shared by links. */
  hasShares: boolean
}

/**
 * Answers `svc status` until it is closed, and `svc knock` and `svc share` where they have something to ask.
 * @param folder the folder of all such sockets, created if needed
 * @throws SvcError `invalid_option` when a socket cannot be created
 */
export async function share(
  folder: string,
  store: StatusStore,
  { hasKnocks, hasShares }: AskedFor,
): Promise<{ close(): void }> {
  const sockets = [await shareStatus(folder, store)]
  const close = (): void => {
    for (const socket of sockets) socket.close()
  }
  try {
    if (hasKnocks) sockets.push(await (await import('./knock-socket.ts')).shareKnocks(folder, store))
    if (hasShares) sockets.push(await (await import('./share-socket.ts')).shareShares(folder, store))
  } catch (error) {
    close()
    throw error
  }
  return { close }
}
