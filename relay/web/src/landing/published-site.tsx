// Shows a published site: address and visits. Space is reserved for each before it is loaded, so that the layout does
// not shift.

import type { KnockingVisitor } from '@svc/sdk-browser'
import { CopyButton } from '../common/copy-button.tsx'
import { formatClock, formatTime } from '../common/format.ts'
import { useEffect, useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import type { Visit } from './demos/demo.ts'
import type { Knocks } from './knocks.tsx'
import { type Publication, share } from './publication.ts'
import { HAS_CODE } from './visitor-card.tsx'

/** Every browser supports the attribute; the types lack it. */
const FOLDER = { webkitdirectory: true }

export function PublishedSite({
  kind,
  state,
  url,
  shareUrl,
  visits,
  visitCount,
  fileCount,
  knocks,
  hasPassword,
  endsAt,
}: Publication): VNode {
  return (
    <>
      <div class="address">
        <div>
          <div class="row">
            {url === '' ? (
              <span role="status">{LANDING.publishing}</span>
            ) : (
              <a href={url} target="_blank" rel="noopener">
                {url}
              </a>
            )}
            <CopyButton text={url} label={LANDING.copyUrl} />
          </div>
          <p class="quiet">{LANDING.about(state, HAS_CODE)}</p>
          {hasPassword && <p class="quiet">{LANDING.hasPassword}</p>}
          {endsAt !== undefined && (
            <p class="quiet">{LANDING.endsAt(formatTime(new Date(endsAt).toISOString()))}</p>
          )}
        </div>
      </div>
      <ShareLink url={shareUrl ?? ''} />
      {kind === 'folder' && <FolderInputs count={fileCount} />}
      {knocks && <WaitingVisitors visitors={knocks} />}
      {kind !== 'webhook' && <Visits visits={visits} count={visitCount} />}
    </>
  )
}

/** The relay's link, which waits for the site when this tab is closed. */
function ShareLink({ url }: { url: string }): VNode {
  return (
    <div class="share">
      <div class="row">
        <a {...(url !== '' && { href: url })} target="_blank" rel="noopener">
          {url}
        </a>
        <CopyButton text={url} label={LANDING.copyShareUrl} />
      </div>
      <p class="quiet">{LANDING.share}</p>
    </div>
  )
}

/** The code is loaded only where visitors knock. */
function WaitingVisitors({ visitors }: { visitors: readonly KnockingVisitor[] }): VNode {
  const [list, setList] = useState<{ Knocks: typeof Knocks } | undefined>(undefined)
  useEffect(() => void import('./knocks.tsx').then(setList), [])
  return list ? <list.Knocks visitors={visitors} /> : <p class="quiet" />
}

function Visits({ visits, count }: { visits: readonly Visit[]; count: number }): VNode {
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

/** Lets the user choose files and folders. The inputs stay in place for keyboards and screen readers. */
function FolderInputs({ count }: { count: number }): VNode {
  const take = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement
    share(input.files ?? [])
    input.value = ''
  }
  return (
    <div class="choose">
      <label class="button">
        {LANDING.chooseFiles}
        <input type="file" multiple onChange={take} />
      </label>
      <label class="button plain">
        {LANDING.chooseFolder}
        <input type="file" {...FOLDER} onChange={take} />
      </label>
      <output class="quiet">{count === 0 ? LANDING.noFiles : LANDING.fileCount(count)}</output>
    </div>
  )
}
