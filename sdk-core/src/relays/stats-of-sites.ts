// The figures of a site at several relays: sums over the relays, and the round trip to the first that has one.

import type { Site, SiteStats } from '../site/site.ts'

export function statsOf(sites: readonly Site[]): SiteStats {
  const all = sites.map((site) => site.stats())
  const sum = (figure: (stats: SiteStats) => number): number =>
    all.reduce((total, stats) => total + figure(stats), 0)
  return {
    openStreams: sum(({ openStreams }) => openStreams),
    readyStreams: sum(({ readyStreams }) => readyStreams),
    webSockets: sum(({ webSockets }) => webSockets),
    rttMs: all.find(({ rttMs }) => rttMs !== undefined)?.rttMs,
    connections: {
      open: sum(({ connections }) => connections.open),
      idle: sum(({ connections }) => connections.idle),
      max: sum(({ connections }) => connections.max),
      closedForOthers: sum(({ connections }) => connections.closedForOthers),
    },
    failedVisitors: sum(({ failedVisitors }) => failedVisitors),
    bytesIn: sum(({ bytesIn }) => bytesIn),
    bytesOut: sum(({ bytesOut }) => bytesOut),
    reconnects: sum(({ reconnects }) => reconnects),
  }
}
