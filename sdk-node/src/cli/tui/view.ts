// The live view as lines that fit a terminal: the most important ones if there is little room.

import { formatStats, until } from '../report/format-stats.ts'
import type { SiteStatus, VisitorReport } from '../report/report.ts'
import { FOREIGN, formatAddresses, formatHeading, formatReport, formatShare } from '../report/reporter.ts'
import { isForPhones, qrCode } from './qr-code.ts'
import { cut } from './text-lines.ts'

export interface ViewContent {
  sites: readonly SiteStatus[]
  /** The last requests, and flows of UDP services, oldest first. */
  visits: readonly VisitorReport[]
  /** Who waits to be let in, and the keys that answer. */
  knocks?: readonly string[]
  /** Current errors, such as a target that does not answer, oldest first. */
  notices: readonly string[]
  /** Whether lines must name their tunnel. */
  areSeveral: boolean
  /** Whether a key opens the inspector. */
  canInspect?: boolean | undefined
}

export interface TerminalSize {
  columns: number
  rows: number
}

const FOOTER = 'Ctrl-C takes it off the relay'
const FOOTER_WITH_COPY = `${FOOTER}, which keeps its copy`
const INSPECT = 'i inspects requests'
/** The QR code is left out unless this many lines remain for visits. */
const VISIT_LINES_MIN = 3
/** The most notices shown. */
const NOTICES_MAX = 3

export function renderView(
  { sites, visits, knocks = [], notices, areSeveral, canInspect }: ViewContent,
  { columns, rows }: TerminalSize,
): string[] {
  const fit = (line: string): string => cut(line, columns)
  const head = sites.flatMap((site) => siteLines(site, areSeveral)).map(fit)
  const noticeCount = Math.min(Math.max(rows - head.length - 1, 1), NOTICES_MAX)
  const end = sites.some(({ cache }) => cache?.present) ? FOOTER_WITH_COPY : FOOTER
  const footer = canInspect ? `${INSPECT}  ${end}` : end
  const foot = [...notices.slice(-noticeCount), ...knocks, footer].map(fit)
  let left = rows - head.length - foot.length
  const shown = sites.find((site) => site.state === 'online' && isForPhones(site.url))
  const url = shown?.share_url ?? shown?.url
  const code = url === undefined ? undefined : qrCode(url)
  const hasCode = code && code.width <= columns && code.lines.length + VISIT_LINES_MIN < left
  if (hasCode) left -= code.lines.length
  // With an empty line before and after.
  const last = left > 2 ? visits.slice(-(left - 2)).map((visit) => fit(formatReport(visit, areSeveral)!)) : []
  const lines = [...(hasCode ? code.lines : []), ...head]
  if (left > 1) lines.push('')
  lines.push(...last)
  if (last.length > 0) lines.push('')
  return [...lines.slice(0, Math.max(0, rows - foot.length)), ...foot].slice(-rows)
}

function siteLines(site: SiteStatus, areSeveral: boolean): string[] {
  const { relay, probe, tunnel, cache, canonical_url } = site
  const addresses = formatAddresses(site, site.targets)
  const isNamed = areSeveral && tunnel !== undefined
  return [
    ...(addresses.length === 0 ? [formatHeading(site)] : addresses),
    ...(site.share_url === undefined ? [] : [formatShare(site)]),
    `  ${isNamed ? `${tunnel}: ` : ''}${formatStats(site)}`,
    ...(probe === 'suspected' ? [`  ${relay} answers visitors itself and can read their traffic`] : []),
    ...(site.domains ?? [])
      .filter((one) => one.probe === 'suspected')
      .map(({ domain }) => `  ${domain} ${FOREIGN}`),
    ...(cache?.present
      ? [`  the relay keeps a copy ${until(cache.expires_at)} and can read what passes at ${canonical_url}`]
      : []),
  ]
}
