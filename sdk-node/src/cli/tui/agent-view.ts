// The live view of the agent, as lines that fit a terminal: its tunnels, one of them selected, and the last requests.

import type { AgentStatus, TunnelStatus } from '../../agent/api-messages.ts'
import { formatRequest, formatStats } from '../report/format-stats.ts'
import { formatAddresses } from '../report/reporter.ts'
import { isForPhones, qrCode } from './qr-code.ts'
import { cut } from './text-lines.ts'
import type { TerminalSize } from './view.ts'

export interface AgentViewContent {
  /** The agent's last answer; undefined before the first. */
  status: AgentStatus | undefined
  /** The index of the selected tunnel. */
  chosen: number
  /** Whether the QR code of the selected tunnel replaces the requests. */
  hasCode: boolean
  /** The outcome of the last key, or that the agent does not answer. */
  notice: string | undefined
}

/** The keys and their functions. */
const HELP = '↑↓ choose  p pause  t try again  c QR code  r reload  q quit, the agent goes on'
const UNNAMED = 'a tunnel without a name'
const REQUEST_LINES_MIN = 3

export function renderAgentView(
  { status, chosen, hasCode, notice }: AgentViewContent,
  { columns, rows }: TerminalSize,
): string[] {
  const foot = [...(notice === undefined ? [] : [notice]), HELP]
  const room = Math.max(0, rows - foot.length)
  const body = status === undefined ? ['…'] : bodyLines(status, chosen, hasCode, { columns, rows: room })
  return [...body.slice(0, room), ...foot].map((line) => fit(line, columns)).slice(-rows)
}

function bodyLines(
  { url, config, tunnels, requests, errors }: AgentStatus,
  chosen: number,
  hasCode: boolean,
  { columns, rows }: TerminalSize,
): string[] {
  const online = tunnels.filter(({ relays }) => relays.some(({ state }) => state === 'online')).length
  const head = [`svc agent  ${url}  ${online} of ${tunnels.length} online  ${config.path}`]
  if (config.error !== undefined) head.push(`! ${config.error}`)
  if (tunnels.length === 0)
    return [...head, '', 'no tunnel yet: add one at the page of svc agent open, or in svc.toml']
  const code = hasCode ? codeOf(tunnels[chosen], columns) : []
  const below = code.length > 0 ? code.length + 1 : Math.min(requests.length, REQUEST_LINES_MIN) + 1
  const told = new Set(tunnels.map(({ failure }) => failure?.message))
  const news = errors.filter(({ message }) => !told.has(message))
  const notices = news.map(
    ({ tunnel, message }) => `! ${tunnel === undefined ? '' : `${tunnel}: `}${message}`,
  )
  const list = window(
    tunnels.map((tunnel, place) => tunnelLines(tunnel, place === chosen)),
    chosen,
    rows - head.length - notices.length - below - 1,
  )
  const top = [...head, '', ...list, ...notices]
  const left = rows - top.length - 1
  if (left <= 0) return top
  if (code.length > 0) return [...top, '', ...code]
  const areSeveral = tunnels.length > 1
  return [...top, '', ...requests.slice(-left).map((request) => formatRequest(request, areSeveral))]
}

function tunnelLines(
  { name = UNNAMED, state, target, relays, failure }: TunnelStatus,
  isChosen: boolean,
): string[] {
  const mark = isChosen ? '▸' : ' '
  const heading = `${mark} ${name} → ${target}  ${failure === undefined ? state : `failed: ${failure.message}`}`
  return [
    heading,
    // Does not repeat the heading.
    ...relays.flatMap((relay) => {
      if (failure !== undefined && relay.failure?.message === failure.message) return []
      const addresses = formatAddresses(relay)
      return [`    ${addresses.length === 0 ? relay.relay : addresses.join('  ')}  ${formatStats(relay)}`]
    }),
  ]
}

/** Returns the lines of the tunnels that fit, including the selected one. */
function window(blocks: readonly string[][], chosen: number, rows: number): string[] {
  const shown = [...(blocks[chosen] ?? [])]
  for (let distance = 1; distance < blocks.length; distance++) {
    const before = blocks[chosen - distance] ?? []
    const after = blocks[chosen + distance] ?? []
    if (shown.length + before.length + after.length > rows) break
    shown.unshift(...before)
    shown.push(...after)
  }
  return shown.slice(0, Math.max(1, rows))
}

function codeOf(tunnel: TunnelStatus | undefined, columns: number): string[] {
  const shown = tunnel?.relays.find(({ state, url }) => state === 'online' && url !== undefined)
  const url = shown?.share_url ?? shown?.url
  if (url === undefined) return ['this tunnel has no URL at the moment']
  if (!isForPhones(url)) return ['only this machine can open its URL: no QR code leads another one there']
  const { lines, width } = qrCode(url)
  return width <= columns ? lines : ['the terminal is too narrow for the QR code']
}

/** Cuts a line, unless it belongs to a QR code, which has colours and fits. */
function fit(line: string, columns: number): string {
  return line.startsWith('\x1b[') ? line : cut(line, columns)
}
