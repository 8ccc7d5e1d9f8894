// Knows whether the relay tells of other relays.
import { type DomainResponse, PATH } from '@svc/protocol'
import { callApi } from './api.ts'
import { Store } from './store.ts'

/** True when the relay answers `GET /discovery`; false until that is known. */
export const hasDiscovery: Store<boolean> = new Store(false)

export async function loadDiscovery(): Promise<void> {
  try {
    const { discovery = false } = await callApi<DomainResponse>(PATH.domain)
    hasDiscovery.set(discovery)
  } catch {
    // The page itself says that the relay does not answer.
  }
}
