// The lines of `svc domain`.

import type { DomainReport } from './report.ts'

const CHANGES = { kept: 'is there', planned: 'will be added', added: 'is added' } as const

export function formatDomain(report: DomainReport): string {
  const subject = `${report.name}  ${report.type}`
  if (report.event === 'domain_check')
    return `${subject}  ${report.state}: ${report.message}${cachedOf(report)}`
  const value = report.type === 'TXT' ? `"${report.value}"` : report.value
  if (report.event === 'domain_change') return `${subject}  ${value}  ${CHANGES[report.change]}`
  return report.alternative
    ? `${subject}  ${value}  (in place of addresses and CAA, where the relay's addresses change)`
    : `${subject}  ${value}`
}

function cachedOf({ cached }: Extract<DomainReport, { event: 'domain_check' }>): string {
  if (cached === undefined) return ''
  const old = cached.values.length === 0 ? 'no such record' : cached.values.join(', ')
  return `; resolvers may answer with ${old} for ${cached.ttl} s more`
}
