// What `svc` tells: a JSON object a line for machines, else a line of text; what is wrong goes to standard error.

import type { ProbeVerdict } from '../probe/self-probe.ts'
import type { SiteFigures } from './board.ts'
import { figuresLine } from './figures.ts'

export type Report =
  | {
      event: 'online'
      relay: string
      url: string
      canonical_url: string
      tcp_address?: string | undefined
      udp_address?: string | undefined
    }
  | { event: 'reconnecting'; relay: string }
  | { event: 'closed'; relay: string }
  /** It goes on. `tunnel` is its name where there are several. */
  | {
      event: 'error'
      tunnel?: string | undefined
      relay?: string | undefined
      code: string
      message: string
    }
  /** What the site found when it visited itself. */
  | { event: 'probe'; relay: string; verdict: ProbeVerdict }
  /** The last line of a command that did not do what it was to do. */
  | { event: 'failed'; code: string; message: string; exit_code: number }
  | { event: 'identity'; address: string; path: string }
  /** A site that runs on this machine. */
  | ({ event: 'status'; pid: number; started_at: string } & SiteFigures)
  /** No site runs on this machine. */
  | { event: 'idle' }
  | RelayReport
  | { event: 'config'; path: string }

export type RelayReport = { event: 'relay'; relay: string } & (
  | { healthy: true; protocol_version: string; release_version: string; rtt_ms: number }
  | { healthy: false; code: string; message: string }
)

const READ = 'answers visitors itself: whatever passes there can be read'

export type Tell = (report: Report) => void

export function teller(isJson: boolean): Tell {
  if (isJson) return (report) => console.log(JSON.stringify(report))
  return (report) => {
    const line = lineOf(report)
    if (line !== undefined) (WRONG.has(report.event) ? console.error : console.log)(line)
  }
}

const WRONG: ReadonlySet<string> = new Set(['error', 'failed', 'probe'])

/** @returns undefined for what is only of interest to machines */
export function lineOf(report: Report): string | undefined {
  switch (report.event) {
    case 'online':
      return addressesOf(report).join('  ')
    case 'reconnecting':
      return `${report.relay} is gone, connecting again`
    case 'closed':
      return `taken off ${report.relay}`
    case 'probe':
      return report.verdict === 'suspected' ? `svc: ${report.relay} ${READ}` : undefined
    case 'error':
      return `svc: ${report.tunnel === undefined ? '' : `${report.tunnel}: `}${report.message}`
    case 'failed':
      return `svc: ${report.message}`
    case 'identity':
      return `${report.address}  ${report.path}`
    case 'status':
      return `${report.url}  ${figuresLine(report)}  pid ${report.pid}`
    case 'idle':
      return 'nothing is running'
    case 'relay':
      return `${report.relay}  ${relayLine(report)}`
    case 'config':
      return `${report.path} is written: svc start --config ${report.path}`
  }
}

function relayLine(state: RelayReport): string {
  if (!state.healthy) return state.message
  return `protocol ${state.protocol_version}  release ${state.release_version}  ${state.rtt_ms} ms`
}

interface Addresses {
  url: string
  tcp_address?: string | undefined
  udp_address?: string | undefined
}

/** All that visitors may type. */
export function addressesOf({ url, tcp_address: tcp, udp_address: udp }: Addresses): string[] {
  return [url, ...(tcp ? [`tcp://${tcp}`] : []), ...(udp ? [`udp://${udp}`] : [])]
}
