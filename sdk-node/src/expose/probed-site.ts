// Publishes a site with a self-probe, to detect whether something terminates TLS on the way.

import { type KeyObject, X509Certificate } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { promisify } from 'node:util'
import { type Admit, type Platform, type PlatformSite, type PublishOptions, publishOn } from '@svc/sdk-core'
import type { SiteRoute } from '../hops/site-route.ts'
import { readKeptDomains } from '../identity/domain-store.ts'
import { sharedOptions } from '../known-options.ts'
import { openThrough, proxyChoice } from '../net/forward-proxy.ts'
import { localhostLookup } from '../net/localhost-lookup.ts'
import { IDENTITY_PATH, type NodeOptions } from '../platform.ts'
import { DomainProbes } from '../probe/domain-probes.ts'
import {
  openProbeConnection,
  openProbeConnectionOver,
  type ProbeConnection,
} from '../probe/probe-connection.ts'
import { Probes, type ProbeVerdict, SelfProbe } from '../probe/self-probe.ts'
import type { ExposeOptions } from './options.ts'

/**
 * Called with each verdict.
 * @param domain the custom domain that was visited; undefined for the site's URL
 */
export type Judge = (site: PlatformSite, verdict: ProbeVerdict, domain?: string) => void

type Way = Pick<NodeOptions, 'ca' | 'proxy'> & { route?: SiteRoute | undefined }

/** The self-probes of a site at all of its relays: a domain may lead to any of them. */
export class ProbedSites {
  readonly #probes = new Probes()
  readonly #domains: DomainProbes | undefined
  readonly #judge: Judge

  constructor({ domains, identityPath = IDENTITY_PATH, proxy }: ExposeOptions, judge: Judge) {
    this.#judge = judge
    if (!domains) return
    // The key is known, so that nobody has to be trusted: neither a development relay's CA nor the system's.
    const options = { rejectUnauthorized: false }
    this.#domains = new DomainProbes({
      probes: this.#probes,
      visit: (url, isOwn) => visitOn({ proxy }, { ...options, isOwn })(url),
      keys: () => keysOf(domains, identityPath),
      addressesOf: (hostname) =>
        promisify(localhostLookup)(hostname, { all: true }).then(
          (found) => (found as LookupAddress[]).map(({ address }) => address),
          () => [],
        ),
      judge: (site, domain, verdict) => judge(site, verdict, domain),
    })
  }

  /**
   * Publishes the site at one relay. Resolves when visitors can connect.
   * @throws SvcError
   */
  async publish(platform: Platform, options: PublishOptions, way: Way): Promise<PlatformSite> {
    // A visitor may come before the site exists.
    let probe: SelfProbe | undefined
    const admit: Admit = async (stream) => (probe ? probe.admit(stream) : this.#probes.admit(stream))
    const visit = visitOn(way, way.ca === undefined ? {} : { ca: way.ca })
    const onSite: PublishOptions['onSite'] = (site) => {
      site.addEventListener('domainschange', () => this.#domains?.look(site as PlatformSite))
      options.onSite?.(site)
    }
    const site = await publishOn({ ...platform, admit }, sharedOptions({ ...options, onSite }))
    probe = new SelfProbe(
      this.#probes,
      visit,
      () => probedUrl(site),
      (verdict) => this.#judge(site, verdict),
    )
    return site
  }
}

/**
 * Returns a function that opens a connection to the site as a visitor does.
 * @param trusted the options of TLS
 */
function visitOn({ proxy, route }: Omit<Way, 'ca'>, trusted: object): (url: URL) => ProbeConnection {
  const proxyFor = proxyChoice(proxy)
  const options = { ...trusted, lookup: localhostLookup }
  return (url) => {
    if (route) return openProbeConnectionOver(route.visit(), url, options)
    const chosen = proxyFor(url)
    if (!chosen) return openProbeConnection(url, options)
    const opening = openThrough(chosen, url).then(({ socket }) => socket)
    return openProbeConnectionOver(opening, url, options)
  }
}

/** Resolves with the keys of the certificates that were brought, or are beside the identity file. */
async function keysOf(
  domains: NonNullable<ExposeOptions['domains']>,
  identityPath: string,
): Promise<ReadonlyMap<string, KeyObject>> {
  const keys = new Map<string, KeyObject>()
  if (domains.some((one) => typeof one === 'string'))
    for (const { domain, publicKey } of await readKeptDomains(identityPath)) keys.set(domain, publicKey)
  for (const one of domains)
    if (typeof one !== 'string') keys.set(one.domain, new X509Certificate(one.certificate.chain).publicKey)
  return keys
}

/**
 * The friendly hostname always leads here; if it is another site's, the canonical one does.
 * @returns undefined while the relay's copy of the files answers at the only hostname, where the relay terminates TLS by design
 */
function probedUrl({ url, canonicalUrl, cache }: PlatformSite): URL | undefined {
  return cache?.present && url === canonicalUrl ? undefined : new URL(url)
}
