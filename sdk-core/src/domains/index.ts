// Sites with custom domains. `publish` loads this only for them.

import type { OwnCertificate } from '../certificate/server-certificate.ts'
import { SvcError } from '../errors.ts'
import type { Platform } from '../platform.ts'
import type { PublishOptions, SiteOptions } from '../site/options.ts'
import { type Site, SiteErrorEvent } from '../site/site.ts'
import { AcmeAuthority } from './authority.ts'
import { type BroughtPlatform, broughtCertificate } from './brought-certificate.ts'
import { askByHttps } from './dns-over-https.ts'
import type { DomainStore } from './domain-store.ts'
import { type DomainSettings, parseDomainOptions } from './parse-options.ts'
import { SiteDomains } from './site-domains.ts'

// All of that chunk comes with this one: of two chunks that share a part, a bundler makes three, and takes from what every page loads at
// once what the third one needs.
export { CertificateKeeper } from '../certificate/lazy.ts'

/**
 * Resolves with the options of a site that is also served at domains of its owner.
 * @throws SvcError `invalid_option`
 */
export async function siteWithDomains(
  platform: Platform,
  options: SiteOptions,
  { domains = [], acme }: Pick<PublishOptions, 'domains' | 'acme'>,
): Promise<SiteOptions> {
  const settings = parseDomainOptions(domains, acme)
  if (settings.domains.length === 0) return { ...options, domains: undefined }
  if (platform.serveTls)
    throw new SvcError(
      'invalid_option',
      'domains and a target that ends TLS itself exclude each other: its certificate is its own business',
    )
  const brought = await broughtCertificates(settings, platform)
  let site: Site | undefined
  const served = new SiteDomains({
    names: settings.domains.map(({ domain }) => domain),
    brought,
    ordered: await orderedAt(settings, platform.domainStore),
    askCaa: settings.acme?.dnsOverHttps ? askByHttps(settings.acme.dnsOverHttps) : platform.askCaa,
    crypto: platform.tlsCrypto,
    changed: () => site?.dispatchEvent(new Event('domainschange')),
    onError: (error) => {
      options.debug?.({ type: 'error', code: error.code, message: error.message })
      site?.dispatchEvent(new SiteErrorEvent(error))
    },
  })
  const onSite = (made: Site): void => {
    site = made
    attach(made, served)
    options.onSite?.(made)
  }
  return { ...options, domains: served, onSite }
}

/** Adds `domains` to a site, which ends with the site. */
function attach(site: Site, served: SiteDomains): void {
  Object.defineProperty(site, 'domains', {
    enumerable: true,
    get: () => served.list(site.state === 'online'),
  })
  site.addEventListener('statechange', () => {
    if (site.state === 'closed') served.stop()
    site.dispatchEvent(new Event('domainschange'))
  })
}

async function broughtCertificates(
  { domains }: DomainSettings,
  platform: BroughtPlatform,
): Promise<Map<string, OwnCertificate>> {
  const brought = new Map<string, OwnCertificate>()
  for (const { domain, certificate } of domains)
    if (certificate) {
      const given = { domain, certificate }
      brought.set(domain, await broughtCertificate(given, Date.now(), platform))
    }
  return brought
}

async function orderedAt(
  { acme }: DomainSettings,
  open: Platform['domainStore'],
): Promise<{ authority: AcmeAuthority; store: DomainStore } | undefined> {
  if (acme === undefined) return undefined
  if (open === undefined)
    throw new SvcError(
      'invalid_option',
      'domains need identityPath beside identity: the account and the certificates are stored there, since an authority issues only a few in a week',
    )
  const store = await open()
  return { authority: new AcmeAuthority(store, acme.directory, acme), store }
}
