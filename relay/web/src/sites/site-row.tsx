// Shows one site of the list. Its metadata is shown as text only.
import type { Lease } from '@svc/protocol'
import { formatAgo, formatTime } from '../common/format.ts'
import { sanitizeText } from '../common/sanitize-text.ts'
import type { VNode } from '../preact.ts'
import { SITES } from '../texts/sites.ts'
import { tagsOf } from './filter-sites.ts'
import { Thumbnail } from './thumbnail.tsx'

export function SiteRow({ lease }: { lease: Lease }): VNode {
  const { name, hostname, metadata, ready, first_seen_at } = lease
  const owner = sanitizeText(metadata.owner ?? '')
  const about = [sanitizeText(metadata.description ?? ''), owner && SITES.by(owner)]
    .filter(Boolean)
    .join(' · ')
  return (
    <article class="site">
      <Thumbnail name={name} thumbnail={metadata.thumbnail} />
      <div class="what">
        <h2>
          <a href={addressOf(hostname)} target="_blank" rel="noopener noreferrer ugc">
            {hostname}
          </a>
        </h2>
        <p class="quiet" title={about}>
          <bdi>{about}</bdi>
        </p>
        <p class="tags">
          {tagsOf(lease).map((tag) => (
            <bdi key={tag} class="tag">
              {tag}
            </bdi>
          ))}
        </p>
      </div>
      <div class="when">
        <span
          class="state"
          data-state={ready > 0 ? 'online' : ''}
          title={ready > 0 ? SITES.readyTitle(ready) : SITES.notReadyTitle}
        >
          {ready > 0 ? SITES.ready : SITES.notReady}
        </span>
        <time class="quiet" dateTime={first_seen_at} title={formatTime(first_seen_at)}>
          {formatAgo(first_seen_at)}
        </time>
      </div>
    </article>
  )
}

/** A site has the port of its relay. */
function addressOf(hostname: string): string {
  return `https://${hostname}${location.port === '' ? '' : `:${location.port}`}/`
}
