// Shows the sites whose files the relay stores, with their expiry, and removes files by a ban.
import type { AdminCacheResponse, CachedSite, PolicyDecisionsResponse } from '@svc/protocol'
import { formatAgo, formatBytes, formatTime } from '../common/format.ts'
import type { VNode } from '../preact.ts'
import { ACTIONS, CONFIRM, DONE, STORED } from '../texts/admin.ts'
import { type ChangeRequest, leaseChange } from './change-request.ts'

interface StoredSitesProps {
  cache: AdminCacheResponse
  decisions: PolicyDecisionsResponse
  act(change: ChangeRequest): Promise<void>
}

export function StoredSitesCard({ cache, decisions, act }: StoredSitesProps): VNode {
  const { sites, used_bytes, max_bytes } = cache
  const ban = (key: string): Promise<void> =>
    act(
      leaseChange(
        { identity_key: key, is_banned: true },
        decisions,
        DONE.banned(key),
        CONFIRM.banStored(key),
      ),
    )
  return (
    <section class="card" aria-labelledby="stored-heading">
      <h2 id="stored-heading">{STORED.title}</h2>
      <p class="quiet">{STORED.about(formatBytes(used_bytes), formatBytes(max_bytes))}</p>
      {sites.length === 0 ? (
        <p class="quiet">{STORED.none}</p>
      ) : (
        <ul class="lines">
          {sites.map((site) => (
            <Line key={site.identity_key} site={site} ban={() => void ban(site.identity_key)} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Line({ site, ban }: { site: CachedSite; ban: () => void }): VNode {
  const { identity_key, hostname, files, bytes, expires_at, has_lease, is_served, machine } = site
  const state = is_served ? (has_lease ? STORED.served : STORED.away) : STORED.waiting
  return (
    <li>
      <span>
        <bdi>{hostname}</bdi>{' '}
        <span class="quiet">
          {STORED.files(files, formatBytes(bytes))} · {state} ·{' '}
          <time dateTime={expires_at} title={formatTime(expires_at)}>
            {STORED.ends(formatAgo(expires_at))}
          </time>
          {machine !== undefined && (
            <>
              {' '}
              · <bdi>{machine}</bdi>
            </>
          )}
        </span>
      </span>
      <button type="button" class="plain" aria-label={`${ACTIONS.ban}: ${identity_key}`} onClick={ban}>
        {ACTIONS.ban}
      </button>
    </li>
  )
}
