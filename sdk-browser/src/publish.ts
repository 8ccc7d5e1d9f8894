// `publish` for everything that has the web's APIs: pages, workers, shared workers and service workers.

import { installGlobals } from './globals.ts'
import { loadStoredIdentity } from './identity/store.ts'
import type { PublishOptions } from './options.ts'
import type { Platform } from './platform.ts'
import { publishOn } from './publish-on.ts'
import type { Site } from './site.ts'

const web: Platform = {
  fetch: (url, init) => fetch(url, init),
  loadIdentity: loadStoredIdentity,
}

/**
 * Publishes `options.fetch` as an HTTPS site; TLS ends in this page or worker.
 * Resolves when visitors can come.
 * @throws SvcError with a stable `code`
 */
export function publish(options: PublishOptions): Promise<Site> {
  if (options.globals ?? isWorker()) installGlobals()
  return publishOn(web, options)
}

function isWorker(): boolean {
  return 'WorkerGlobalScope' in globalThis
}
