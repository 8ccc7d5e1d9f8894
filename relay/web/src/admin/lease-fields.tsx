// Shows every field of a lease. The thumbnail's URL is shown as text, because loading the image would reveal to its owner the
// administrator's address.
import type { CustomDomain, PolicyLease } from '@svc/protocol'
import { formatBytes, formatTime } from '../common/format.ts'
import { sanitizeText } from '../common/sanitize-text.ts'
import type { VNode } from '../preact.ts'
import { LEASES } from '../texts/admin.ts'

/** Shown characters of a thumbnail's data URL. */
const THUMBNAIL_CHARS = 120

export function LeaseFields({ lease }: { lease: PolicyLease }): VNode {
  const { metadata } = lease
  const values: Record<keyof typeof LEASES.fields, string | undefined> = {
    identity_key: lease.identity_key,
    name: lease.name,
    address: lease.address,
    hostname: lease.hostname,
    domains: lease.custom_domains?.map(domainText).join('; '),
    ready: String(lease.ready),
    first_seen_at: formatTime(lease.first_seen_at),
    last_seen_at: formatTime(lease.last_seen_at),
    expires_at: formatTime(lease.expires_at),
    client_ip: lease.client_ip,
    reported_ip: lease.reported_ip,
    is_approved: yesNo(lease.is_approved),
    is_denied: yesNo(lease.is_denied),
    is_banned: yesNo(lease.is_banned),
    is_ip_banned: yesNo(lease.is_ip_banned),
    bps: limitOf(lease.bps),
    udp_enabled: yesNo(lease.udp_enabled),
    tcp_enabled: yesNo(lease.tcp_enabled),
    tcp_addr: lease.tcp_addr,
    description: metadata.description,
    owner: metadata.owner,
    tags: metadata.tags?.join(', '),
    listed: yesNo(metadata.hide !== true),
    thumbnail: metadata.thumbnail?.slice(0, THUMBNAIL_CHARS),
  }
  return (
    <dl class="fields">
      {Object.entries(LEASES.fields).map(([key, label]) => (
        <div key={key}>
          <dt>{label}</dt>
          <dd>
            <bdi>{sanitizeText(values[key as keyof typeof values] ?? '') || '–'}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function domainText({ domain, state, reason }: CustomDomain): string {
  return `${domain} (${LEASES.domainStates[state]})${reason === undefined ? '' : ` – ${reason}`}`
}

export function limitOf(bps: number): string {
  return bps === 0 ? LEASES.unlimited : LEASES.rate(formatBytes(bps))
}

function yesNo(value: boolean): string {
  return value ? LEASES.yes : LEASES.no
}
