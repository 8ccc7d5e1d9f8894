// `publish` on any platform: the SDK of each runtime calls it.

import { abortError } from './errors.ts'
import { identityFromKey } from './identity/key.ts'
import type { DatagramStats, Platform } from './platform.ts'
import { PublishedSite } from './site/lifecycle.ts'
import { type PublishOptions, parseOptions } from './site/options.ts'
import type { Site } from './site/site.ts'

/** A PlatformSite is a site with what only some platforms can offer. */
export interface PlatformSite extends Site {
  /** `host:port` of the dedicated TCP port, when the platform serves one. */
  readonly tcpAddress: string | undefined
  /** `host:port` of the dedicated UDP port, when the platform serves one. */
  readonly udpAddress: string | undefined
  /** The relay's `release_version`, while the site has a lease there; undefined when the relay names none. */
  readonly relayRelease: string | undefined
  /** Returns the figures of the datagram tunnel. Undefined when the platform serves no UDP port. */
  datagramStats(): DatagramStats | undefined
}

/**
 * Publishes `options.fetch` on `platform`. Resolves when visitors can come.
 * @throws SvcError with a stable `code`
 */
export async function publishOn(platform: Platform, options: PublishOptions): Promise<PlatformSite> {
  const parsed = parseOptions(options)
  const { signal } = parsed
  const { identity: given } = parsed
  const identity = identityFromKey(
    given === undefined || typeof given === 'string' ? await platform.loadIdentity(given) : given,
  )
  if (signal?.aborted) throw abortError(signal)
  const site = new PublishedSite(platform, parsed, identity)
  const close = (): void => {
    site.close()
  }
  signal?.addEventListener('abort', close, { once: true, signal: site.gone })
  parsed.onSite?.(site as PlatformSite)
  platform.followPage?.(site, site.gone)
  await site.start()
  return site as PlatformSite
}
