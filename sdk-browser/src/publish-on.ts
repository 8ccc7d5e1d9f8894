// `publish` on any platform, for SDKs of other runtimes: the subpath `@svc/sdk-browser/platform`.

import { abortError } from './errors.ts'
import { identityFromKey } from './identity/key.ts'
import { type PublishOptions, parseOptions } from './options.ts'
import { followPage } from './page-life.ts'
import type { Platform } from './platform.ts'
import { PublishedSite, type Site } from './site.ts'

export { SvcError } from './errors.ts'
export { createPrivateKey } from './identity/key.ts'
export type { Platform } from './platform.ts'

export async function publishOn(platform: Platform, options: PublishOptions): Promise<Site> {
  const parsed = parseOptions(options)
  const { signal } = parsed
  const identity = identityFromKey(parsed.identity ?? (await platform.loadIdentity()))
  if (signal?.aborted) throw abortError(signal)
  const site = new PublishedSite(platform, parsed, identity)
  const close = (): void => {
    site.close()
  }
  signal?.addEventListener('abort', close, { once: true, signal: site.gone })
  await site.start()
  followPage(site, site.gone)
  return site as Site
}
