// `publish` for pages, workers, shared workers and service workers.

import { type Platform, type PublishOptions, publishOn, type Site } from '@svc/sdk-core'
import { installGlobals } from './globals/install.ts'
import { loadStoredIdentity } from './identity-store.ts'
import { followPage } from './page-lifecycle.ts'

const stores = (): Promise<typeof import('./site-keys.ts')> => import('./site-keys.ts')

const web: Platform = {
  fetch: (url, init) => fetch(url, init),
  loadIdentity: loadStoredIdentity,
  // Loaded with the certificate's code, after the site is online.
  siteKeys: { load: async (site) => (await stores()).loadStoredKey(site) },
  domainStore: async () => (await stores()).domainStore,
  followPage,
}

/**
 * Publishes `options.fetch` as an HTTPS site whose TLS ends in this page or worker. Resolves when visitors can connect.
 * @throws SvcError with a stable `code`
 */
export async function publish(options: PublishOptions): Promise<Site> {
  if (options?.globals ?? isWorker()) installGlobals()
  return publishOn(web, options)
}

function isWorker(): boolean {
  return 'WorkerGlobalScope' in globalThis
}
