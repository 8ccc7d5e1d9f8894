// The sockets at which this process answers other commands of its user.

import type { StatusStore } from '../report/status-store.ts'
import { shareStatus } from './status-socket.ts'

/**
 * Answers `svc status` until it is closed, and `svc knock` where visitors may knock.
 * @param folder the folder of all such sockets, created if needed
 * @throws SvcError `invalid_option` when a socket cannot be created
 */
export async function share(
  folder: string,
  store: StatusStore,
  hasKnocks: boolean,
): Promise<{ close(): void }> {
  const status = await shareStatus(folder, store)
  if (!hasKnocks) return status
  const { shareKnocks } = await import('./knock-socket.ts')
  const knocks = await shareKnocks(folder, store).catch((error) => {
    status.close()
    throw error
  })
  return {
    close: () => {
      status.close()
      knocks.close()
    },
  }
}
