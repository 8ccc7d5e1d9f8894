// The facts about a site in groups; what is empty is left out. The thumbnail's URL is shown as text, because loading the image
// would reveal to its owner the administrator's address.
import type { CustomDomain, LeaseTraffic, PolicyLease, PolicyLeaseResponse } from '@svc/protocol'
import { CopyButton } from '../../common/copy-button.tsx'
import { formatAgo, formatBytes, formatTime } from '../../common/format.ts'
import { sanitizeText } from '../../common/sanitize-text.ts'
import type { ComponentChildren, VNode } from '../../preact.ts'
import { DOMAINS, SITE } from '../../texts/admin.ts'
import { limitOf } from '../limit-text.ts'
import { siteUrl } from './site-state.ts'

/** Shown characters of a thumbnail's data URL. */
const THUMBNAIL_CHARS = 120

type Fact = readonly [name: string, value: ComponentChildren]
const { facts, groups } = SITE

export function SiteFacts({ site }: { site: PolicyLeaseResponse }): VNode {
  const { lease, identity_key, traffic } = site
  const [, address = ''] = identity_key.split(':')
  return (
    <section class="card" aria-labelledby="facts-heading">
      <h2 id="facts-heading" class="unseen">
        {SITE.factsTitle}
      </h2>
      {lease === undefined && <p class="quiet">{SITE.ended}</p>}
      <div class="groups">
        {lease !== undefined && <Group title={groups.site} facts={siteFacts(lease)} />}
        <Group title={groups.owner} facts={ownerFacts(address, lease)} />
        {lease !== undefined && <Group title={groups.lease} facts={leaseFacts(lease)} />}
        <Group title={groups.access} facts={accessFacts(site)} />
        <Group title={groups.traffic} facts={trafficFacts(traffic)} />
      </div>
    </section>
  )
}

function Group({ title, facts }: { title: string; facts: readonly Fact[] }): VNode {
  return (
    <div>
      <h3>{title}</h3>
      <dl>
        {facts
          .filter(([, value]) => value !== '' && value !== undefined)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === 'string' ? <bdi>{sanitizeText(value)}</bdi> : value}</dd>
            </div>
          ))}
      </dl>
    </div>
  )
}

function siteFacts({ hostname, custom_domains = [], metadata }: PolicyLease): Fact[] {
  return [
    [
      facts.hostname,
      <a key="hostname" href={siteUrl(hostname)} target="_blank" rel="noopener noreferrer ugc">
        {hostname}
      </a>,
    ],
    [facts.domains, custom_domains.map(domainText).join('; ')],
    [facts.description, metadata.description],
    [facts.by, metadata.owner],
    [facts.tags, metadata.tags?.join(', ')],
    [facts.listed, metadata.hide === true ? SITE.no : SITE.yes],
    [facts.thumbnail, metadata.thumbnail?.slice(0, THUMBNAIL_CHARS)],
  ]
}

function ownerFacts(address: string, lease: PolicyLease | undefined): Fact[] {
  return [
    [
      facts.address,
      <span key="address" class="with-copy">
        <Address text={address} /> <CopyButton text={address} label={SITE.copyAddress} />
      </span>,
    ],
    [facts.client_ip, lease?.client_ip],
    [facts.reported_ip, lease?.reported_ip],
  ]
}

/** Where it does not fit, it breaks in its middle, not before its last character. */
function Address({ text }: { text: string }): VNode {
  const middle = Math.ceil(text.length / 2)
  return (
    <code>
      {text.slice(0, middle)}
      <wbr />
      {text.slice(middle)}
    </code>
  )
}

function leaseFacts(lease: PolicyLease): Fact[] {
  return [
    [facts.ready, String(lease.ready)],
    [facts.first_seen, <Moment key="first" time={lease.first_seen_at} />],
    [facts.last_seen, <Moment key="last" time={lease.last_seen_at} />],
    [facts.expires, <Moment key="expires" time={lease.expires_at} />],
    [facts.udp, lease.udp_enabled ? SITE.yes : ''],
    [facts.tcp, lease.tcp_enabled ? (lease.tcp_addr ?? SITE.yes) : ''],
  ]
}

function accessFacts({ lease, is_approved, is_denied, is_banned, bps }: PolicyLeaseResponse): Fact[] {
  return [
    [facts.approved, is_approved ? SITE.yes : SITE.no],
    [facts.denied, is_denied ? SITE.yes : ''],
    [facts.banned, is_banned ? SITE.yes : ''],
    [facts.ip_banned, lease?.ip_bans.join(', ')],
    [facts.limit, limitOf(bps)],
  ]
}

function trafficFacts(traffic: LeaseTraffic | undefined): Fact[] {
  if (traffic === undefined) return [[facts.now, SITE.nobody]]
  const { open_connections, received_bps, sent_bps, day } = traffic
  const rate = (bytes: number): string => SITE.rate(formatBytes(bytes))
  return [
    [facts.now, SITE.connections(open_connections)],
    [facts.rate, SITE.directions(rate(sent_bps), rate(received_bps))],
    [facts.day, SITE.directions(formatBytes(day.sent_bytes), formatBytes(day.received_bytes))],
    [facts.visits, SITE.visits(day.connections, day.visitors)],
  ]
}

function Moment({ time }: { time: string }): VNode {
  return (
    <time dateTime={time}>
      {formatTime(time)} <span class="quiet">({formatAgo(time)})</span>
    </time>
  )
}

function domainText({ domain, state, reason }: CustomDomain): string {
  return `${domain} (${DOMAINS.states[state]})${reason === undefined ? '' : ` – ${reason}`}`
}
