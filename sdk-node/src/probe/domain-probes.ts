// Visits a site's custom domains, at which only the site has the key: whoever shows another one at an address of the relay answers in
// its place.

import type { KeyObject, X509Certificate } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import type { PlatformSite } from '@svc/sdk-core'
import { ForeignKeyError, type ProbeConnection } from './probe-connection.ts'
import type { Probes, ProbeVerdict } from './self-probe.ts'

/** The shortest time between two visits of a domain, in milliseconds. It needs no visitor: one who is intercepted never comes. */
export const DOMAIN_PROBE_PAUSE_MS = 600_000

/**
 * For how long a domain may lead elsewhere while the relay says that it leads there, in milliseconds. The relay looks each hour
 * (docs/protocol.md §9.5.6): one that says so for longer may have given its owner an address that it hides from the site.
 */
export const STRAYING_MAX_MS = 7_200_000
/** As many visits at which it led elsewhere, with none between that found the site: a relay that says now and then that it does gains no more time. */
export const STRAYING_VISITS_MAX: number = STRAYING_MAX_MS / DOMAIN_PROBE_PAUSE_MS

export interface DomainProbesParts {
  probes: Probes
  /**
   * Opens a connection like a visitor.
   * @param isOwn whether a certificate is the site's
   */
  visit(url: URL, isOwn: (leaf: X509Certificate) => boolean): ProbeConnection
  /** Resolves with the keys of the site's own certificates, by domain. */
  keys(): Promise<ReadonlyMap<string, KeyObject>>
  /** Resolves with the addresses of a name, as a visitor finds them; with none when it cannot be looked up. */
  addressesOf(hostname: string): Promise<readonly string[]>
  /** Called with each verdict. */
  judge(site: PlatformSite, domain: string, verdict: ProbeVerdict): void
}

export class DomainProbes {
  readonly #parts: DomainProbesParts
  readonly #probedAt = new Map<string, number>()
  /** When each domain that leads elsewhere was first seen to, without the relay saying that it does. */
  readonly #strayingSince = new Map<string, number>()
  /** At how many visits it did, since the last that found the site. */
  readonly #strayed = new Map<string, number>()
  /** Settles when no domain is visited: they are visited one after the other. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: DomainProbesParts) {
    this.#parts = parts
  }

  /** Visits the domains of a site that are online and due. Called whenever something about them is known. */
  look(site: PlatformSite): void {
    const now = performance.now()
    for (const { domain, online } of site.domains ?? []) {
      if (!online) this.#strayingSince.delete(domain)
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
    const visitor = visit(url, (leaf) => leaf.publicKey.equals(key))
    let foreign: ForeignKeyError | undefined
    visitor.secured.catch((error) => {
      if (error instanceof ForeignKeyError) foreign = error
    })
    const verdict = await probes.judge(visitor)
    // A visit that fails proves nothing, and so excuses nothing.
    if (verdict === 'not_seen_from_here') {
      this.#strayingSince.delete(domain)
      this.#strayed.delete(domain)
    }
    const strays = foreign !== undefined && (await this.#strays(site, domain, foreign.address))
    judge(site, domain, strays ? 'failed' : verdict)
  }

  /** Whether somebody answers whom the domain's owner may have chosen: elsewhere than at the relay, and not for long. */
  async #strays(site: PlatformSite, domain: string, address: string | undefined): Promise<boolean> {
    const { addressesOf } = this.#parts
    const [relay, found] = await Promise.all([
      addressesOf(new URL(site.url).hostname),
      address === undefined ? addressesOf(domain) : [address],
    ])
    const { dns } = site.domains!.find((one) => one.domain === domain)!
    const named = dns.records.filter(({ type }) => type === 'A' || type === 'AAAA')
    const ours = new BlockList()
    for (const one of [...relay, ...named.map(({ value }) => value)])
      if (isIP(one) !== 0) ours.addAddress(one, familyOf(one))
    if (found.some((one) => ours.check(one, familyOf(one)))) return false
    const now = performance.now()
    const since = this.#strayingSince.get(domain) ?? now
    this.#strayingSince.set(domain, since)
    const visits = (this.#strayed.get(domain) ?? 0) + 1
    this.#strayed.set(domain, visits)
    return now - since < STRAYING_MAX_MS && visits <= STRAYING_VISITS_MAX
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
