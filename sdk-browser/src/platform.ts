// The seam between the web and Node: what a platform gives, and `publish` on top of it.

import type { CryptoProvider } from '@svc/tls'
import type { FetchFunction } from './control/client.ts'
import { abortError } from './errors.ts'
import { identityFromKey } from './identity/key.ts'
import { type PublishOptions, parseOptions } from './options.ts'
import { followPage } from './page-life.ts'
import { PublishedSite, type Site } from './site.ts'

export { SvcError } from './errors.ts'
export { createPrivateKey } from './identity/key.ts'

export interface Platform {
  fetch: FetchFunction
  /** The network broke: connections that `fetch` keeps are probably dead. Browsers see to that themselves. */
  forgetConnections?(): void
  /** Third argument of the WebSocket constructor, where it takes one. */
  webSocketOptions?: object | undefined
  /** The private key to use when the options name none. */
  loadIdentity(): Promise<Uint8Array>
  /** The TLS engine's primitives; WebCrypto unless given. */
  tlsCrypto?: CryptoProvider | undefined
}

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
