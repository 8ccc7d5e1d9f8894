// The third part of the diagram: a visitor's phone with what it shows, the code that leads it to the site, and what it asked for.
import { isForPhones } from '../common/for-phones.ts'
import { useStore } from '../common/store.ts'
import { useEffect, useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { NOTE } from '../texts/note.ts'
import { hasPeople } from './choices.ts'
import { shelf } from './demos/shelf.ts'
import { lastChoices, lastKind, publication } from './publication.ts'

/** Sites are subdomains of the relay's host, so this is the same for all. */
export const HAS_CODE: boolean = isForPhones(location.href)
/** Names of files that the phone has room for. */
const NAMES_MAX = 4

export function VisitorCard(): VNode {
  const now = useStore(publication)
  const chosen = useStore(lastKind)
  const { name } = useStore(lastChoices)
  const { url = '', shareUrl, state = 'closed', latest, kind = chosen } = now ?? {}
  const { title, sees } = LANDING.visitors[kind]
  const isOnline = state === 'online'
  return (
    <section class="card visitor" aria-labelledby="visitor-heading">
      <h2 id="visitor-heading">{title}</h2>
      <div class="phone" data-online={isOnline}>
        <span class="pill" aria-hidden="true">
          {url === '' ? `${name.trim() || '*'}.${location.hostname}` : new URL(url).hostname}
        </span>
        <div class="screen-of" aria-hidden="true">
          {kind === 'note' ? <Note /> : kind === 'folder' ? <Names /> : <p>{sees}</p>}
        </div>
        {HAS_CODE && url !== '' && hasPeople(kind) && <QrCode url={shareUrl ?? url} isOnline={isOnline} />}
      </div>
      <p class="quiet caption">
        {latest !== undefined
          ? LANDING.tabReads
          : isOnline
            ? LANDING.openIt(kind, HAS_CODE)
            : LANDING.preview}
      </p>
      {latest !== undefined && <pre class="request">{latest}</pre>}
    </section>
  )
}

/** The note as a visitor reads it; of HTML, its text. */
function Note(): VNode {
  const { note } = useStore(lastChoices)
  const isHtml = note.trimStart().startsWith('<')
  const text = isHtml ? new DOMParser().parseFromString(note, 'text/html').body.textContent : note
  const [title, ...rest] = text.trim().split('\n')
  return (
    <>
      <strong>{title}</strong>
      <p>{rest.join('\n').trim()}</p>
      {!isHtml && <p>{NOTE.visitor(1)}</p>}
    </>
  )
}

function Names(): VNode {
  const { files, title } = useStore(shelf)
  return (
    <>
      <strong>{title}</strong>
      {[...files.keys()].slice(0, NAMES_MAX).map((name) => (
        <p key={name}>{name}</p>
      ))}
      {files.size === 0 && <p>{LANDING.visitors.folder.sees}</p>}
    </>
  )
}

/** The drawing code is loaded later; the space is reserved. */
function QrCode({ url, isOnline }: { url: string; isOnline: boolean }): VNode {
  const [code, setCode] = useState<VNode | undefined>(undefined)
  useEffect(() => {
    import('../common/qr.tsx').then(
      ({ Qr }) => setCode(<Qr text={url} label={LANDING.qr(url)} />),
      // The address beside it is enough.
      () => setCode(undefined),
    )
  }, [url])
  return (
    <div class="qr" data-online={isOnline}>
      {code}
    </div>
  )
}
