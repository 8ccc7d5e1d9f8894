// Visits a site's custom domains, at which only the site has the key: whoever shows another one answers in its place.

import type { KeyObject, X509Certificate } from 'node:crypto'
import type { PlatformSite } from '@svc/sdk-core'
import type { ProbeConnection } from './probe-connection.ts'
import type { Probes, ProbeVerdict } from './self-probe.ts'

/** The shortest time between two visits of a domain, in milliseconds. It needs no visitor: one who is intercepted never comes. */
export const DOMAIN_PROBE_PAUSE_MS = 600_000

export interface DomainProbesParts {
  probes: Probes
  /**
   * Opens a connection like a visitor.
   * @param isOwn whether a certificate is the site's
   */
  visit(url: URL, isOwn: (leaf: X509Certificate) => boolean): ProbeConnection
  /** Resolves with the keys of the site's own certificates, by domain. */
  keys(): Promise<ReadonlyMap<string, KeyObject>>
  /** Called with each verdict. */
  judge(site: PlatformSite, domain: string, verdict: ProbeVerdict): void
}

export class DomainProbes {
  readonly #parts: DomainProbesParts
  readonly #probedAt = new Map<string, number>()
  /** Settles when no domain is visited: they are visited one after the other. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: DomainProbesParts) {
    this.#parts = parts
  }

  /** Visits the domains of a site that are online and due. Called whenever something about them is known. */
  look(site: PlatformSite): void {
    const now = performance.now()
    for (const { domain, online } of site.domains ?? []) {
      const before = this.#probedAt.get(domain) ?? Number.NEGATIVE_INFINITY
      if (!online || now - before < DOMAIN_PROBE_PAUSE_MS) continue
      this.#probedAt.set(domain, now)
      this.#last = this.#last.then(() => this.#probe(site, domain)).catch(() => {})
    }
  }

  async #probe(site: PlatformSite, domain: string): Promise<void> {
    const { probes, visit, keys, judge } = this.#parts
    const key = (await keys()).get(domain)
    // A visit without the key would prove nothing.
    if (key === undefined || site.state !== 'online') return
    const url = new URL(site.url)
    url.hostname = domain
    judge(site, domain, await probes.judge(visit(url, (leaf) => leaf.publicKey.equals(key))))
  }
}
