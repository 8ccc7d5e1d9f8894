// What is going on in this process: its sites, their figures and the last requests, for the live view and `svc status`.

import type { PlatformSite } from '@svc/sdk-browser/platform'
import type { ProbeVerdict } from '../probe/self-probe.ts'
import type { RequestReport } from '../target/requests.ts'

/** Requests that are remembered: more than a terminal has lines. */
export const REQUESTS_KEPT = 100

export interface SiteFigures {
  relay: string
  url: string
  canonical_url: string
  tcp_address?: string | undefined
  udp_address?: string | undefined
  state: PlatformSite['state']
  /** The last round trip to the relay. */
  rtt_ms?: number | undefined
  /** Visitors that are here. */
  connections: number
  reconnects: number
  bytes_in: number
  bytes_out: number
  /** What the site found when it last visited itself. */
  probe?: ProbeVerdict | undefined
}

export class Board {
  /** With their relays. */
  readonly #sites = new Map<PlatformSite, string>()
  readonly #probes = new WeakMap<PlatformSite, ProbeVerdict>()
  readonly #requests: RequestReport[] = []

  add(relay: string, site: PlatformSite): void {
    this.#sites.set(site, relay)
  }

  remove(site: PlatformSite): void {
    this.#sites.delete(site)
  }

  /** Also of a site that is not here yet, or not any more. */
  probed(site: PlatformSite, verdict: ProbeVerdict): void {
    this.#probes.set(site, verdict)
  }

  requested(report: RequestReport): void {
    this.#requests.push(report)
    if (this.#requests.length > REQUESTS_KEPT) this.#requests.shift()
  }

  /** Oldest first. */
  get requests(): readonly RequestReport[] {
    return this.#requests
  }

  figures(): SiteFigures[] {
    return [...this.#sites].map(([site, relay]) => figuresOf(relay, site, this.#probes.get(site)))
  }
}

function figuresOf(relay: string, site: PlatformSite, probe: ProbeVerdict | undefined): SiteFigures {
  const { rttMs, openStreams, reconnects, bytesIn, bytesOut } = site.stats()
  return {
    relay,
    url: site.url,
    canonical_url: site.canonicalUrl,
    tcp_address: site.tcpAddress,
    udp_address: site.udpAddress,
    state: site.state,
    rtt_ms: rttMs === undefined ? undefined : Math.round(rttMs * 10) / 10,
    connections: openStreams,
    reconnects,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    probe,
  }
}
