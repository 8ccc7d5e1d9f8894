// Shows the sites whose files the relay stores, with their expiry, and removes files by a ban.
import type { CachedSite } from '@svc/protocol'
import { formatAgo, formatBytes, formatTime } from '../common/format.ts'
import type { VNode } from '../preact.ts'
import { Link } from '../shell/link.tsx'
import { ACTIONS, CONFIRM, DONE, SECTIONS, STORED } from '../texts/admin.ts'
import { askBan } from './ban-dialog.tsx'
import { leaseChange } from './change-request.ts'
import type { PageProps } from './page-props.ts'
import { sitePath } from './place.ts'

export function CachePage({ view, act }: PageProps<'decisions'>): VNode {
  const { sites, used_bytes, max_bytes } = view.cache
  const ban = async (key: string): Promise<void> => {
    const terms = await askBan(key, CONFIRM.banStored)
    const update = { identity_key: key, is_banned: true, ...terms }
    if (terms !== undefined) await act(leaseChange(update, view.decisions, DONE.banned(key)))
  }
  return (
    <>
      <h1>{SECTIONS.cache}</h1>
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
    </>
  )
}

function Line({ site, ban }: { site: CachedSite; ban: () => void }): VNode {
  const { identity_key, hostname, files, bytes, expires_at, has_lease, is_served, machine } = site
  const state = is_served ? (has_lease ? STORED.served : STORED.away) : STORED.waiting
  return (
    <li>
      <span>
        <Link to={sitePath(identity_key)}>{hostname}</Link>
        <small>
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
        </small>
      </span>
      <button
        type="button"
        class="plain wrong small"
        aria-label={`${ACTIONS.ban}: ${identity_key}`}
        onClick={ban}
      >
        {ACTIONS.ban}
      </button>
    </li>
  )
}
