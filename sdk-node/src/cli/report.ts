// What `svc` tells: a JSON object a line for machines, else a line of text; what is wrong goes to standard error.

import type { ProbeVerdict } from '../probe/self-probe.ts'

type Report =
  | { event: 'online'; relay: string; url: string; canonical_url: string; tcp_address?: string | undefined }
  | { event: 'reconnecting'; relay: string }
  | { event: 'closed'; relay: string }
  /** It goes on. */
  | { event: 'error'; relay?: string | undefined; code: string; message: string }
  /** What the site found when it visited itself. */
  | { event: 'probe'; relay: string; verdict: ProbeVerdict }
  /** The last line of a command that did not do what it was to do. */
  | { event: 'failed'; code: string; message: string; exit_code: number }
  | { event: 'identity'; address: string; path: string }

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
function lineOf(report: Report): string | undefined {
  switch (report.event) {
    case 'online':
      return [report.url, ...(report.tcp_address ? [`tcp://${report.tcp_address}`] : [])].join('  ')
    case 'reconnecting':
      return `${report.relay} is gone, connecting again`
    case 'closed':
      return `taken off ${report.relay}`
    case 'probe':
      return report.verdict === 'suspected' ? `svc: ${report.relay} ${READ}` : undefined
    case 'error':
    case 'failed':
      return `svc: ${report.message}`
    case 'identity':
      return `${report.address}  ${report.path}`
  }
}
