// What the relay offers besides sites: discovery, and downloads of `svc`.
import { type DomainResponse, PATH } from '@svc/protocol'
import { callApi } from './api.ts'
import { Store } from './store.ts'

/** True when the relay answers `GET /discovery`; false until known. */
export const hasDiscovery: Store<boolean> = new Store(false)

/** True when the relay has downloads of `svc`; false when it has none; undefined until known. */
export const hasDownloads: Store<boolean | undefined> = new Store<boolean | undefined>(undefined)

export async function loadOffers(): Promise<void> {
  try {
    const { discovery = false, downloads = false } = await callApi<DomainResponse>(PATH.domain)
    hasDiscovery.set(discovery)
    hasDownloads.set(downloads)
  } catch {
    // The page itself says that the relay does not answer.
  }
}
