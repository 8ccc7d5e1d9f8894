// The third part of the diagram: a visitor's phone, with the code that leads it to the site, and what the visitor asked for.
import { isForPhones } from '../common/for-phones.ts'
import { useStore } from '../common/store.ts'
import { useEffect, useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { publication } from './publication.ts'

/** Sites are subdomains of the relay's host, so this is the same for all. */
export const HAS_CODE: boolean = isForPhones(location.href)

export function VisitorCard(): VNode {
  const now = useStore(publication)
  const { url = '', shareUrl, state, latest } = now ?? {}
  const isOnline = state === 'online'
  return (
    <section class="card visitor" aria-labelledby="visitor-heading">
      <h2 id="visitor-heading">{LANDING.visitorTitle}</h2>
      <div class="phone" data-online={isOnline}>
        {url !== '' && <span class="pill">{new URL(url).hostname}</span>}
        {HAS_CODE && url !== '' && <QrCode url={shareUrl ?? url} isOnline={isOnline} />}
        {latest === undefined ? (
          <p class="quiet">{isOnline ? LANDING.openIt : LANDING.noVisitor}</p>
        ) : (
          <>
            <p class="quiet">{LANDING.tabReads}</p>
            <pre class="request">{latest}</pre>
          </>
        )}
      </div>
    </section>
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
