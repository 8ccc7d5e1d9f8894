// The live view as lines that fit a terminal: what matters most is kept when there is little room.

import type { AgentRequest } from '../../agent/api-messages.ts'
import { formatRequest, formatStats, until } from '../report/format-stats.ts'
import type { SiteStatus } from '../report/report.ts'
import { formatAddresses, formatHeading } from '../report/reporter.ts'
import { isForPhones, qrCode } from './qr-code.ts'
import { cut } from './text-lines.ts'

export interface ViewContent {
  sites: readonly SiteStatus[]
  /** The last requests, the oldest first. */
  requests: readonly AgentRequest[]
  /** Errors that still stand, such as a target that does not answer, the oldest first. */
  notices: readonly string[]
  /** Lines have to say which tunnel they are about. */
  areSeveral: boolean
}

export interface TerminalSize {
  columns: number
  rows: number
}

const FOOTER = 'Ctrl-C takes it off the relay'
const FOOTER_WITH_COPY = `${FOOTER}, which keeps its copy`
/** Lines for requests without which the QR code is left out. */
const REQUEST_LINES_MIN = 3
/** Notices that are shown: the latest. */
const NOTICES_MAX = 3

export function renderView(
  { sites, requests, notices, areSeveral }: ViewContent,
  { columns, rows }: TerminalSize,
): string[] {
  const fit = (line: string): string => cut(line, columns)
  const head = sites.flatMap((site) => siteLines(site, areSeveral)).map(fit)
  const noticeCount = Math.min(Math.max(rows - head.length - 1, 1), NOTICES_MAX)
  const footer = sites.some(({ cache }) => cache?.present) ? FOOTER_WITH_COPY : FOOTER
  const foot = [...notices.slice(-noticeCount), footer].map(fit)
  let left = rows - head.length - foot.length
  const url = sites.find((site) => site.state === 'online' && isForPhones(site.url))?.url
  const code = url === undefined ? undefined : qrCode(url)
  const hasCode = code && code.width <= columns && code.lines.length + REQUEST_LINES_MIN < left
  if (hasCode) left -= code.lines.length
  // with an empty line before and after them
  const last =
    left > 2 ? requests.slice(-(left - 2)).map((request) => fit(formatRequest(request, areSeveral))) : []
  const lines = [...(hasCode ? code.lines : []), ...head]
  if (left > 1) lines.push('')
  lines.push(...last)
  if (last.length > 0) lines.push('')
  return [...lines.slice(0, Math.max(0, rows - foot.length)), ...foot].slice(-rows)
}

function siteLines(site: SiteStatus, areSeveral: boolean): string[] {
  const { relay, probe, tunnel, cache, canonical_url } = site
  const addresses = formatAddresses(site)
  const isNamed = areSeveral && tunnel !== undefined
  return [
    ...(addresses.length === 0 ? [formatHeading(site)] : addresses),
    `  ${isNamed ? `${tunnel}: ` : ''}${formatStats(site)}`,
    ...(probe === 'suspected' ? [`  ${relay} answers visitors itself: what passes can be read`] : []),
    ...(cache?.present
      ? [`  the relay keeps a copy ${until(cache.expires_at)} and can read what passes at ${canonical_url}`]
      : []),
  ]
}
