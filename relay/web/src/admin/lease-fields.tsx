// Every field of a lease as the administrator sees it. What a lease says of itself is text here, its thumbnail too:
// a picture that is fetched would tell its owner where the administrator is.
import type { PolicyLease } from '@svc/protocol'
import { formatBytes, formatTime } from '../common/format.ts'
import { sanitizeText } from '../common/sanitize-text.ts'
import type { VNode } from '../preact.ts'
import { LEASES } from '../texts/admin.ts'

/** Of a thumbnail that is data. */
const THUMBNAIL_CHARS = 120

export function LeaseFields({ lease }: { lease: PolicyLease }): VNode {
  const { metadata } = lease
  const values: Record<keyof typeof LEASES.fields, string | undefined> = {
    identity_key: lease.identity_key,
    name: lease.name,
    address: lease.address,
    hostname: lease.hostname,
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
    hide: yesNo(metadata.hide === true),
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

export function limitOf(bps: number): string {
  return bps === 0 ? LEASES.unlimited : LEASES.rate(formatBytes(bps))
}

function yesNo(value: boolean): string {
  return value ? LEASES.yes : LEASES.no
}
