// `publish` on any platform: the SDK of each runtime calls it.

import { nameOfAddress } from '@svc/protocol'
import { abortError, SvcError } from './errors.ts'
import { explained } from './explained.ts'
import { identityFromKey, type KeyIdentity, signerOf } from './identity/key.ts'
import type { DatagramStats, Platform } from './platform.ts'
import { type PublishOptions, readOptions, type SiteOptions } from './site/options.ts'
import { PublishedSite } from './site/published-site.ts'
import type { Site } from './site/site.ts'

/** A PlatformSite is a site with the members that only some platforms have. */
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
 * Publishes `options.fetch` on `platform`. Resolves when visitors can connect.
 * @throws SvcError with a stable `code`
 */
export async function publishOn(platform: Platform, options: PublishOptions): Promise<PlatformSite> {
  if (!('withResolvers' in Promise && 'parse' in URL))
    throw await explained('unsupported_platform', ['unsupported'])
  const parsed = await readOptions(options)
  const { access, rules, domains, tls, relays, discover } = options
  const isSpecial = access || rules || domains || tls?.clientCertificates || (relays ?? discover ?? 0) !== 0
  const publishSpecial = isSpecial && (await prepareSpecial(platform, parsed, options, signerOf))
  const { signal, identity: given } = parsed
  const identity =
    given === undefined || typeof given === 'string'
      ? identityFromKey(await platform.loadIdentity(given), 'identity_unavailable')
      : identityFromKey(given)
  if (signal?.aborted) throw abortError(signal)
  if (!publishSpecial) return publishAtRelay(platform, parsed, identity)
  return publishSpecial((...at) => publishAtRelay(...at, identity), identity) as Promise<PlatformSite>
}

/** Publishes at one relay. */
async function publishAtRelay(
  platform: Platform,
  options: SiteOptions,
  identity: KeyIdentity,
): Promise<PlatformSite> {
  const { signal, name = nameOfAddress(identity.address) } = options
  const site = new PublishedSite(platform, { ...options, name }, identity)
  const close = (): void => {
    site.close()
  }
  signal?.addEventListener('abort', close, { once: true, signal: site.gone })
  options.onSite?.(site as PlatformSite)
  platform.followPage?.(site, site.gone)
  await site.start()
  return site as PlatformSite
}

/** Loads the code for what few sites have. Without it, a site would be open that must not be. */
async function prepareSpecial(
  ...args: Parameters<typeof import('./publish-special.ts').prepareSpecial>
): ReturnType<typeof import('./publish-special.ts').prepareSpecial> {
  const special = await import('./publish-special.ts').catch((cause) => {
    throw new SvcError('relay_unreachable', 'code not loaded', { cause })
  })
  return special.prepareSpecial(...args)
}
