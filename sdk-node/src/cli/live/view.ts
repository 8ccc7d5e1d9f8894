// The live view as lines that fit a terminal: what matters most is kept when there is little room.

import type { RequestReport } from '../../target/requests.ts'
import type { SiteFigures } from '../board.ts'
import { figuresLine } from '../figures.ts'
import { addressesOf } from '../report.ts'
import { qrCode } from './qr.ts'

export interface Shown {
  sites: readonly SiteFigures[]
  /** Oldest first. */
  requests: readonly RequestReport[]
  /** What was last said, such as why a target does not answer. */
  notice: string | undefined
}

export interface Room {
  columns: number
  rows: number
}

const FOOTER = 'Ctrl-C takes it off the relay'
/** Lines for requests without which the QR code is left out. */
const REQUEST_LINES_MIN = 3

export function viewOf({ sites, requests, notice }: Shown, { columns, rows }: Room): string[] {
  const fit = (line: string): string => cut(line, columns)
  const head = sites.flatMap(siteLines).map(fit)
  const foot = [...(notice === undefined ? [] : [notice]), FOOTER].map(fit)
  let left = rows - head.length - foot.length
  const code = sites[0] && qrCode(sites[0].url)
  const hasCode = code && code.width <= columns && code.lines.length + REQUEST_LINES_MIN < left
  if (hasCode) left -= code.lines.length
  // with an empty line before and after them
  const last = left > 2 ? requests.slice(-(left - 2)).map((request) => fit(requestLine(request))) : []
  const lines = [...(hasCode ? code.lines : []), ...head]
  if (left > 1) lines.push('')
  lines.push(...last)
  if (last.length > 0) lines.push('')
  return [...lines.slice(0, Math.max(0, rows - foot.length)), ...foot].slice(-rows)
}

function siteLines(site: SiteFigures): string[] {
  const { relay, probe } = site
  return [
    ...addressesOf(site),
    `  ${figuresLine(site)}`,
    ...(probe === 'suspected' ? [`  ${relay} answers visitors itself: what passes can be read`] : []),
  ]
}

function requestLine({ method, path, status, ms }: RequestReport): string {
  return `${status} ${String(Math.round(ms)).padStart(5)} ms  ${method} ${path}`
}

/** To so many columns. What comes from others may hold anything: nothing of it reaches the terminal as a command. */
function cut(line: string, columns: number): string {
  const characters = Array.from(line.replace(/\p{Cc}/gu, '?'))
  if (characters.length <= columns) return characters.join('')
  return `${characters.slice(0, Math.max(0, columns - 1)).join('')}…`
}
