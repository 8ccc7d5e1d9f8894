// What few sites have: something in front of the handler, custom domains, or several relays. `publish` loads this only for them.

import type { KeyIdentity } from './identity/key.ts'
import type { Platform } from './platform.ts'
import type { PublishAtRelay } from './relays/options.ts'
import type { SignerOf } from './relays/relay-list.ts'
import type { PublishOptions, SiteOptions } from './site/options.ts'
import type { Site } from './site/site.ts'

/**
 * Checks the options, and resolves with the function that publishes with them.
 * @throws SvcError `invalid_option`
 */
export async function prepareSpecial(
  platform: Platform,
  parsed: SiteOptions,
  given: PublishOptions,
  signerOf: SignerOf,
): Promise<(publish: PublishAtRelay, identity: KeyIdentity) => Promise<Site>> {
  let options = await withFront(platform, parsed, given)
  if (given.domains)
    options = await (await import('./domains/index.ts')).siteWithDomains(platform, options, given)
  const isAtSeveral = (given.relays ?? given.discover ?? 0) !== 0
  const publishAt = isAtSeveral
    ? (await import('./relays/publish-at-several.ts')).prepareSeveral(platform, options, given, signerOf)
    : (publish: PublishAtRelay) => publish(platform, options)
  return (publish, { address }) => {
    options.domains?.ownedBy(address)
    return publishAt(publish)
  }
}

/** Puts in front of the handler what the options ask for. A request passes the last one here first: `access`. */
async function withFront(
  { scrypt }: Platform,
  parsed: SiteOptions,
  { access, rules, tls, visitorAddress }: PublishOptions,
): Promise<SiteOptions> {
  let options = parsed
  if (tls?.clientCertificates) {
    const { siteWithClientCertificates } = await import('./client-certificates/index.ts')
    options = await siteWithClientCertificates(options, tls.clientCertificates)
  }
  if (rules) options = (await import('./rules/index.ts')).ruledSite(options, rules)
  if (access)
    options = await (await import('./access/index.ts')).guardedSite(
      options,
      { access, visitorAddress },
      scrypt,
    )
  return options
}
