// Prints the reports of `svc`: as JSON lines or as text. Errors go to standard error.

import { PATH } from '@svc/protocol'
import type { CopyStatus } from '../../agent/api-messages.ts'
import { formatAccess } from './format-access.ts'
import { formatDemo } from './format-demo.ts'
import { formatDoctor } from './format-doctor.ts'
import { formatDomain } from './format-domain.ts'
import { clock, formatStats, formatVisit, formatWaiting, nameOf, until } from './format-stats.ts'
import { printable } from './printable.ts'
import type {
  Addresses,
  AgentReport,
  DemoReport,
  DomainReport,
  Print,
  RelayReport,
  Report,
  Reporter,
  SentReport,
  SiteStatus,
  Targets,
} from './report.ts'
import { wrap } from './wrap.ts'

/** The most bytes of `svc`'s output that may wait for a slow reader: about 500 requests or flows. Further ones are dropped. */
const REQUESTS_BACKLOG_MAX_BYTES = 64 * 1024
/** The same for all other reports, which are few and more important. */
const REPORTS_BACKLOG_MAX_BYTES = 1024 * 1024
const READ = 'answers visitors itself and can read their traffic'
/** What is said of a custom domain that is suspected. */
export const FOREIGN = 'is answered with a key that is not the site’s, as by a relay that ends TLS itself'
const NOT_PROBED =
  'has a copy of the files and ends TLS at the only URL of the site: svc does not check whether it reads what passes'

/**
 * Makes a reporter that drops and counts reports when the reader is so slow that they would fill the memory.
 * @param areSeveral whether lines of text begin with the name of their tunnel
 */
export function makeReporter(isJson: boolean, print: Print, areSeveral = false): Reporter {
  const tell = isJson ? makeJsonPrinter(print) : makeTextPrinter(print, areSeveral)
  let dropped = 0
  return (report) => {
    const isOfVisitor =
      report.event === 'request' ||
      report.event === 'flow' ||
      report.event === 'held' ||
      report.event === 'visited'
    const max = isOfVisitor ? REQUESTS_BACKLOG_MAX_BYTES : REPORTS_BACKLOG_MAX_BYTES
    if ((print.backlog?.(isJson ? 'log' : outputOf(report)) ?? 0) > max) {
      dropped += 1
      return
    }
    if (dropped > 0) tell({ event: 'dropped', count: dropped })
    dropped = 0
    tell(report)
  }
}

function makeJsonPrinter(print: Print): Reporter {
  return (report) => print.log(JSON.stringify(report))
}

function makeTextPrinter(print: Print, areSeveral: boolean): Reporter {
  /** The last printed error of each tunnel. */
  const said = new Map<string | undefined, string>()
  /** The lines about a newer release: each is printed once, for any tunnel. */
  const offered = new Set<string | undefined>()
  return (report) => {
    if (report.event === 'error') said.set(report.tunnel, report.message)
    // A report of the tunnel already gave the reason.
    if (report.event === 'failed' && [...said.values()].includes(report.message)) return
    const line = formatReport(report, areSeveral)
    if (report.event === 'update' && offered.size === offered.add(line).size) return
    if (line === undefined) return
    const output = outputOf(report)
    const columns = report.event === 'completion' ? undefined : print.columns?.(output)
    print[output](printable(columns === undefined ? line : wrap(line, columns, '  ')))
  }
}

const ON_STANDARD_ERROR: ReadonlySet<string> = new Set([
  'error',
  'resolved',
  'failed',
  'probe',
  'update',
  'dropped',
])

function outputOf({ event }: Report): 'log' | 'error' {
  return ON_STANDARD_ERROR.has(event) ? 'error' : 'log'
}

/** @returns undefined for a report that is only for machines */
export function formatReport(report: Report, areSeveral = false): string | undefined {
  switch (report.event) {
    case 'online':
      return `${nameOf(report, areSeveral)}${formatAddresses(report, report.targets).join('  ')}${formatShare(report)}${formatInspector(report)}`
    case 'waiting':
      return `${nameOf(report, areSeveral)}${report.relay}: ${formatWaiting(report)}`
    case 'reconnecting':
      return `${nameOf(report, areSeveral)}${report.relay}: reconnecting, it does not answer`
    case 'closed':
      return `${nameOf(report, areSeveral)}taken off ${report.relay}${formatLeft(report.cache)}`
    case 'cache':
      return nameOf(report, areSeveral) + formatCopy(report)
    case 'request':
    case 'flow':
    case 'held':
      return formatVisit(report, areSeveral)
    case 'knock':
    case 'nobody_waits':
    case 'answered':
    case 'shared':
    case 'share':
    case 'no_shares':
    case 'withdrawn':
      return formatAccess(report, areSeveral)
    case 'dropped':
      return `svc: ${report.count} ${report.count === 1 ? 'line was' : 'lines were'} left out: the output is read too slowly`
    case 'probe':
      return formatProbe(report, areSeveral)
    case 'update':
      return `svc: ${formatUpdate(report)}`
    case 'error':
    case 'resolved':
    case 'failed':
      return `svc: ${formatNotice(report, areSeveral)}`
    case 'identity':
    case 'hash':
    case 'completion':
      return formatMade(report)
    case 'status':
      return `${formatHeading(report)}  ${formatStats(report)}${formatKept(report.cache)}  pid ${report.pid}`
    case 'idle':
      return 'nothing is running'
    case 'relay':
      return `${report.relay}  ${relayLine(report)}`
    case 'doctor':
      return formatDoctor(report)
    case 'agent':
      return formatAgent(report)
    case 'tunnel':
      return `${report.tunnel ?? 'a tunnel without a name'}  ${formatTunnel(report)}`
    case 'service':
      return `the service is ${report.state}${report.path === undefined ? '' : `: ${report.path}`}`
    case 'page':
      return `${report.url}`
    case 'setting':
    case 'value':
    case 'config':
      return formatSetting(report)
    default:
      return formatOther(report)
  }
}

/** @returns undefined for a verdict about which nothing is to be done */
function formatProbe(report: Extract<Report, { event: 'probe' }>, areSeveral: boolean): string | undefined {
  const { relay, domain, verdict } = report
  if (verdict !== 'suspected' && verdict !== 'cached') return undefined
  const what = verdict === 'cached' ? NOT_PROBED : READ
  return `svc: ${nameOf(report, areSeveral)}${domain === undefined ? `${relay} ${what}` : `${domain} ${FOREIGN}`}`
}

function formatOther(report: DemoReport | DomainReport | SentReport): string {
  if (report.event === 'demo' || report.event === 'visited') return formatDemo(report)
  return 'domain' in report ? formatDomain(report) : formatSent(report)
}

function formatMade(report: Extract<Report, { event: 'identity' | 'hash' | 'completion' }>): string {
  if (report.event === 'completion') return report.script
  return report.event === 'hash' ? report.hash : `${report.address}  ${report.path}`
}

type Notice = Extract<Report, { event: 'error' | 'resolved' | 'failed' }>

function formatNotice(report: Notice, areSeveral: boolean): string {
  if (report.event === 'failed') return report.message
  const said = report.event === 'error' ? report.message : `${report.target} answers again`
  return nameOf(report, areSeveral) + said
}

function formatSetting(report: Extract<Report, { event: 'setting' | 'value' | 'config' }>): string {
  if (report.event === 'config') return `${report.path} is written: svc start --config ${report.path}`
  if (report.event === 'value') return wordsIn(report.value)
  return `${report.key} ${report.value === undefined ? 'is not set' : `= ${wordsIn(report.value)}`}`
}

function formatSent(report: SentReport): string {
  if (report.event === 'webhook') return `${report.sender} ${report.name}`
  if (report.event === 'public_key') return `the receiver needs the public key ${report.key}`
  const { sender, name, url, status, ms } = report
  return `${status} ${String(Math.round(ms)).padStart(5)} ms  ${sender} ${name}  ${url}`
}

function formatInspector({ inspector }: Extract<Report, { event: 'online' }>): string {
  return inspector === undefined ? '' : `  to inspect: ${inspector}`
}

function wordsIn(value: string | string[]): string {
  return [value].flat().join(',')
}

function formatAgent({ state, url, pid, config, error }: AgentReport): string {
  if (state === 'stopped') return `the agent has ended  pid ${pid}`
  return `the agent runs at ${url}  pid ${pid}  ${config}${error === undefined ? '' : `\n${error}`}`
}

function formatTunnel({ state, failure, retry_at }: Extract<Report, { event: 'tunnel' }>): string {
  const again = retry_at === undefined ? '' : `, tried again at ${clock(retry_at)}`
  return failure === undefined ? state : `failed: ${failure.message}${again}`
}

function formatCopy({
  relay,
  present,
  expires_at,
  canonical_url,
}: Extract<Report, { event: 'cache' }>): string {
  if (!present) return `${relay} has no copy of the files any more`
  return `${relay} keeps a copy ${until(expires_at)}, also when svc ends: ${canonical_url} shows it, and the relay can read what passes there`
}

/** Formats what remains at a relay after the site was removed. */
function formatLeft(cache: CopyStatus | undefined): string {
  return cache?.present ? `, which keeps its copy ${until(cache.expires_at)} at the latest` : ''
}

function formatKept(cache: CopyStatus | undefined): string {
  return cache?.present ? `  a copy ${until(cache.expires_at)}` : ''
}

/** Formats a newer release. The relay's installer upgrades what it installed. */
function formatUpdate({ relay, release_version, svc_version }: Extract<Report, { event: 'update' }>): string {
  const installer = new URL(process.platform === 'win32' ? PATH.installPs1 : PATH.installSh, relay)
  return `${relay} has release ${release_version}, and this svc is ${svc_version}: ${installer} upgrades it`
}

function relayLine(state: RelayReport): string {
  if (!state.healthy) return state.message
  const invitation = state.invitation ? '  by invitation' : ''
  return `protocol ${state.protocol_version}  release ${state.release_version}  ${state.rtt_ms} ms${invitation}`
}

/** @returns every address that a visitor may use, with what it leads to */
export function formatAddresses(
  { url, tcp_address: tcp, udp_address: udp }: Addresses,
  targets: Targets = {},
): string[] {
  const routes = Object.entries(targets.routes ?? {}).map(([place, target]) => `${place} → ${target}`)
  const to = (target: string | undefined): string => (target === undefined ? '' : ` → ${target}`)
  return [
    ...(url ? [[url + to(targets.url), ...routes].join('  ')] : []),
    ...(tcp ? [`tcp://${tcp}${to(targets.tcp)}`] : []),
    ...(udp ? [`udp://${udp}${to(targets.udp)}`] : []),
  ]
}

/** @returns the link that waits for the site while it is away, with what it is */
export function formatShare({ share_url }: Addresses): string {
  return share_url === undefined ? '' : `  to share: ${share_url}`
}

/** @returns the heading of a site: its address, or the name of its tunnel */
export function formatHeading(site: SiteStatus): string {
  const addresses = formatAddresses(site, site.targets)
  const name = site.tunnel ?? 'a tunnel without a name'
  if (addresses.length === 0) return `${name} at ${site.relay}`
  return site.url === undefined ? `${name}: ${addresses.join('  ')}` : addresses.join('  ')
}
