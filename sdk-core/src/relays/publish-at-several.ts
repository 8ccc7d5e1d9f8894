// `publish` with `relays` or `discover`: one site for the caller, and one at each relay.

import { abortError } from '../errors.ts'
import type { Platform } from '../platform.ts'
import type { PublishOptions, SiteOptions } from '../site/options.ts'
import type { Site } from '../site/site.ts'
import { type PublishAtRelay, parseRelaysOptions, type RelaysOptions } from './options.ts'
import type { SignerOf } from './relay-list.ts'
import { SiteAtRelays } from './site-at-relays.ts'

/**
 * Checks the options, and returns the function that publishes with them.
 * @throws SvcError `invalid_option`
 */
export function prepareSeveral(
  platform: Platform,
  options: SiteOptions,
  given: PublishOptions,
  signerOf: SignerOf,
): (publish: PublishAtRelay) => Promise<Site> {
  const several = parseRelaysOptions(options, given)
  return (publish) => publishAtSeveral(platform, several, publish, signerOf)
}

/**
 * Resolves when visitors can connect at one relay.
 * @throws SvcError the failure at the first relay, when no relay takes the site
 */
async function publishAtSeveral(
  platform: Platform,
  options: RelaysOptions,
  publish: PublishAtRelay,
  signerOf: SignerOf,
): Promise<Site> {
  const { signal } = options
  if (signal?.aborted) throw abortError(signal)
  const site = new SiteAtRelays(platform, options, publish, signerOf)
  signal?.addEventListener('abort', () => void site.close(), { once: true, signal: site.gone })
  options.onSite?.(site)
  platform.followPage?.(site, site.gone)
  await site.start()
  return site
}
