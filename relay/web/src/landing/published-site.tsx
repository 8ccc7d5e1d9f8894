// Shows a published site: address and visits. Space is reserved for each before it is loaded, so that the layout does
// not shift.

import type { KnockingVisitor } from '@svc/sdk-browser'
import { breakable } from '../common/breakable.tsx'
import { CopyButton } from '../common/copy-button.tsx'
import { formatClock, formatTime } from '../common/format.ts'
import { useEffect, useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { hasPeople } from './choices.ts'
import type { Visit } from './demos/demo.ts'
import { FolderFiles } from './folder-files.tsx'
import type { Knocks } from './knocks.tsx'
import type { Publication } from './publication.ts'
import { StateSentence } from './state-sentence.tsx'

export function PublishedSite({
  kind,
  state,
  url,
  shareUrl,
  knocks,
  hasPassword,
  endsAt,
  nextAttemptAt,
  clear,
}: Publication): VNode {
  return (
    <>
      <div class="address">
        <div>
          <div class="row">
            {url === '' ? <span role="status">{LANDING.publishing}</span> : <Address url={url} />}
            <CopyButton text={url} label={LANDING.copyUrl} />
          </div>
          <StateSentence kind={kind} state={state} nextAttemptAt={nextAttemptAt} />
          {hasPassword && <p class="quiet">{LANDING.hasPassword}</p>}
          {endsAt !== undefined && (
            <p class="quiet">{LANDING.endsAt(formatTime(new Date(endsAt).toISOString()))}</p>
          )}
        </div>
      </div>
      {hasPeople(kind) && <ShareLink url={shareUrl ?? ''} />}
      {kind === 'folder' && <FolderFiles error="" isOnline={true} />}
      {knocks && <WaitingVisitors visitors={knocks} />}
      {kind === 'webhook' && (
        <p class="quiet">
          {LANDING.keptRequests}{' '}
          <button type="button" class="link" onClick={() => clear?.()}>
            {LANDING.forget}
          </button>
        </p>
      )}
    </>
  )
}

/** The relay's link, which waits for the site when this tab is closed. */
function ShareLink({ url }: { url: string }): VNode {
  return (
    <div class="share">
      <p class="quiet">{LANDING.share}</p>
      <div class="row">
        <Address url={url} />
        <CopyButton text={url} label={LANDING.copyShareUrl} />
      </div>
    </div>
  )
}

/** Every address is one of HTTPS: eyes go past that. */
function Address({ url }: { url: string }): VNode {
  const [, scheme = '', rest = ''] = /^(https:..)?(.*)$/.exec(url) ?? []
  return (
    <a {...(url !== '' && { href: url })} target="_blank" rel="noopener">
      <span class="scheme">{scheme}</span>
      {breakable(rest)}
    </a>
  )
}

/** The code is loaded only where visitors knock. */
function WaitingVisitors({ visitors }: { visitors: readonly KnockingVisitor[] }): VNode {
  const [list, setList] = useState<{ Knocks: typeof Knocks } | undefined>(undefined)
  useEffect(() => void import('./knocks.tsx').then(setList), [])
  return list ? <list.Knocks visitors={visitors} /> : <p class="quiet" />
}

/** The list grows: nothing is below it but a link. */
export function Visits({ visits, count }: { visits: readonly Visit[]; count: number }): VNode {
  return (
    <>
      <h3>
        {LANDING.visits} <output class="count">{count}</output>
      </h3>
      {visits.length === 0 && <p class="quiet">{LANDING.noVisits}</p>}
      <ul class="visits">
        {visits.map(({ id, at, method, path }) => (
          <li key={id} class="visit" title={path}>
            <time>{formatClock(at)}</time> <span>{method}</span> <code>{path}</code>
          </li>
        ))}
      </ul>
    </>
  )
}
