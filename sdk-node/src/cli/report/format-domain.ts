// The lines of `svc domain`.

import type { DomainReport, DomainStateReport } from './report.ts'

const CHANGES = { kept: 'is there', planned: 'will be added', added: 'is added' } as const

export function formatDomain(report: DomainReport): string {
  if (report.event === 'domain') return formatState(report)
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

/** Only what is next: the records, else the certificate, else the protection. */
function formatState({ domain, online, state, certificate, ...report }: DomainStateReport): string {
  const subject = online ? `https://${domain}` : domain
  if (state !== 'active') {
    const records = report.records.map(({ name, type, value }) => `${name} ${type} ${value}`).join(', ')
    const why = report.reason ?? state
    // A relay's own words begin with the domain.
    const said = why.startsWith(`${domain}: `) ? why : `${subject}: ${why}`
    return `${said}${records === '' ? '' : `; it needs ${records}`}`
  }
  if (certificate === 'failed') return `${subject}: no certificate: ${report.error}`
  if (certificate !== 'valid') return `${subject}: the certificate is being ordered`
  return report.protected
    ? `${subject}  protected`
    : `${subject}  not protected: ${report.unprotected ?? 'not known yet'}`
}
