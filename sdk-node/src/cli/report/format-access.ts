// Formats for people what a running `svc` answers to `svc knock` and `svc share`.

import { formatTime, nameOf, until } from './format-stats.ts'
import type { KnockReport, Report, ShareReport } from './report.ts'

/** The reports about who may come in. */
type AccessReport = Extract<
  Report,
  { event: 'knock' | 'nobody_waits' | 'answered' | 'shared' | 'share' | 'no_shares' | 'withdrawn' }
>

/** @param areSeveral whether a visitor's line must name its tunnel */
export function formatAccess(report: AccessReport, areSeveral: boolean): string {
  switch (report.event) {
    case 'knock':
      return nameOf(report, areSeveral) + formatKnock(report)
    case 'nobody_waits':
      return 'nobody waits'
    case 'answered':
      return `${report.code} is ${report.admitted ? 'let in' : 'refused'}${report.always ? ' from now on' : ''}`
    case 'shared':
      return report.url
    case 'share':
      return formatShare(report)
    case 'no_shares':
      return 'there are no share links: svc share makes one'
    case 'withdrawn':
      return `${report.id} is withdrawn`
  }
}

function formatKnock({ code, address = 'unknown address', browser, path }: KnockReport): string {
  return `${code}  ${address}  ${browser}  ${path}  waits: svc knock admit ${code}, or svc knock refuse ${code}`
}

function formatShare({ tunnel, id, note, once, until: end, uses, used_at, address }: ShareReport): string {
  const last = used_at === undefined ? '' : `, last ${formatTime(used_at)}`
  const from = address === undefined ? '' : ` from ${address}`
  const used = uses === 0 ? 'not used' : `used ${uses === 1 ? 'once' : `${uses} times`}${last}${from}`
  const words = [tunnel, note.replaceAll('\n', ' '), once && 'for one sign-in', end && until(end), used]
  return [id, ...words.filter(Boolean)].join('  ')
}
