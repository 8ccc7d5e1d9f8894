// Publishes a site with a self-probe, to detect whether something terminates TLS on the way.

import { type Admit, type Platform, type PlatformSite, type PublishOptions, publishOn } from '@svc/sdk-core'
import type { SiteRoute } from '../hops/site-route.ts'
import { sharedOptions } from '../known-options.ts'
import { openThrough, proxyChoice } from '../net/forward-proxy.ts'
import { localhostLookup } from '../net/localhost-lookup.ts'
import type { NodeOptions } from '../platform.ts'
import type { ProbeConnection } from '../probe/probe-connection.ts'
import type { ProbeVerdict, SelfProbe } from '../probe/self-probe.ts'

/**
 * Resolves when visitors can connect.
 * @param route the route of the site; undefined without one
 * @param judge called with each verdict
 * @throws SvcError
 */
export async function publishProbed(
  platform: Platform,
  options: PublishOptions,
  way: Pick<NodeOptions, 'ca' | 'proxy'> & { route: SiteRoute | undefined },
  judge: (site: PlatformSite, verdict: ProbeVerdict) => void,
): Promise<PlatformSite> {
  // A visitor may come before the site exists.
  let probe: SelfProbe | undefined
  const admit: Admit = async (stream) => (probe ? probe.admit(stream) : stream)
  const { SelfProbe } = await import('../probe/self-probe.ts')
  const visit = await visitOn(way)
  const site = await publishOn({ ...platform, admit }, sharedOptions(options))
  probe = new SelfProbe(
    visit,
    () => probedUrl(site),
    (verdict) => judge(site, verdict),
  )
  return site
}

/** Resolves with a function that opens a connection to the site as a visitor does. */
async function visitOn({
  ca,
  proxy,
  route,
}: Parameters<typeof publishProbed>[2]): Promise<(url: URL) => ProbeConnection> {
  const { openProbeConnection, openProbeConnectionOver } = await import('../probe/probe-connection.ts')
  const proxyFor = proxyChoice(proxy)
  const trusted = { ...(ca !== undefined && { ca }), lookup: localhostLookup }
  return (url) => {
    if (route) return openProbeConnectionOver(route.visit(), url, trusted)
    const chosen = proxyFor(url)
    if (!chosen) return openProbeConnection(url, trusted)
    const opening = openThrough(chosen, url).then(({ socket }) => socket)
    return openProbeConnectionOver(opening, url, trusted)
  }
}

/**
 * The friendly hostname always leads here; if it is another site's, the canonical one does.
 * @returns undefined while the relay's copy of the files answers at the only hostname, where the relay terminates TLS by design
 */
function probedUrl({ url, canonicalUrl, cache }: PlatformSite): URL | undefined {
  return cache?.present && url === canonicalUrl ? undefined : new URL(url)
}
