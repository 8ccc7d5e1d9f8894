// The page of `/go/` for a site at another relay: it names and links the site's host, and does not redirect by itself.

import { escapeHtml } from '@svc/protocol/documents'
import { type GoDocument, goDocument, nameOf } from '../../core/go/go-document.ts'

/** A browser does not send the fragment, so the page adds it to the link. */
const SCRIPT = `
document.getElementById('continue').hash = location.hash
`

/**
 * @param label canonical
 * @param url the site's URL at the other relay
 */
export function renderElsewherePage(label: string, url: string): GoDocument {
  const name = nameOf(label)
  const { host } = new URL(url)
  return goDocument({
    title: `${name} is at another relay`,
    script: SCRIPT,
    main: `<h1>${name} is at another relay</h1>
<p>The site <code>${label}</code> said, with the signature of its address, that visitors reach it at this host:</p>
<p><code>${escapeHtml(host)}</code></p>
<p>Somebody else runs that relay. This relay has not checked what it shows. Go on if you trust it.</p>
<p><a class="action" id="continue" rel="noreferrer" href="${escapeHtml(url)}">Continue to ${escapeHtml(host)}</a></p>
`,
  })
}
