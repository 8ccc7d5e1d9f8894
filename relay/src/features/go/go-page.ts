// The page of `/go/` for a site that was not found: it is self-contained, and asks this relay again from time to time.

import { escapeHtml, type GoDocument, goDocument, nameOf } from './go-document.ts'
import type { GoTarget } from './go-target.ts'

export interface GoPage {
  target: GoTarget
  /** URLs of the same `/go/` page at other relays. */
  links: readonly string[]
  /** Seconds until the page may ask again. */
  retryS: number
  /** Numbers of relays asked, and of relays known; undefined when the relay was too busy to ask. */
  asked?: { asked: number; known: number }
}

/**
 * Runs in the page. It sends HEAD without following a redirect; on one, it reloads the page. It waits longer each time,
 * and at least as long as the relay says. While the page is hidden, it sends nothing.
 */
const SCRIPT = `
const FACTOR = 1.5, MAX_S = 60
const state = document.getElementById('state')
let seconds = Number(document.body.dataset.retry), timer, isLooking = false
const wait = () => { timer = setTimeout(look, seconds * 1000) }
const look = async () => {
  if (document.hidden || isLooking) return
  isLooking = true
  clearTimeout(timer)
  let least = 0
  try {
    const answer = await fetch(location.href, { method: 'HEAD', redirect: 'manual', cache: 'no-store' })
    if (answer.type === 'opaqueredirect' || answer.ok) {
      state.textContent = 'The site is back.'
      return location.reload()
    }
    least = Number(answer.headers.get('Retry-After')) || 0
  } catch {}
  isLooking = false
  seconds = Math.max(least, Math.min(seconds * FACTOR, MAX_S))
  wait()
}
document.addEventListener('visibilitychange', look)
state.textContent = 'This page looks again from time to time while you see it, and leads you on when the site is back.'
wait()
`

export function renderGoPage({ target: { label, rest }, links, retryS, asked }: GoPage): GoDocument {
  const name = nameOf(label)
  return goDocument({
    title: `${name} is not here now`,
    bodyAttributes: ` data-retry="${retryS}"`,
    script: SCRIPT,
    main: `<h1>${name} is not here now</h1>
<p>${asked === undefined ? BUSY : absence(asked)} The site’s address is <code>${label}</code>.</p>
<p id="state" role="status">Scripts are off here: this page does not look again by itself. Choose “Look again” in a minute.</p>
<p><a class="action" href="${escapeHtml(`/go/${label}${rest}`)}">Look again</a></p>
${links.length === 0 ? '' : list(links)}`,
  })
}

const BUSY = 'This relay has too many visitors to look for the site now.'

function absence({ asked, known }: { asked: number; known: number }): string {
  if (known === 0) return 'This relay does not have the site, and knows no other relay to ask.'
  return `This relay does not have the site, and ${otherAnswers(asked, known)}. The site may be closed, or on its way to another relay.`
}

function otherAnswers(asked: number, known: number): string {
  if (known === 1) return 'the only other one that it knows does not, either'
  if (asked === known) return `none of the ${known} others that it knows said that they do`
  return `none of the ${asked} others that it asked said that they do. It knows ${known}, and asks the next ones when the page looks again`
}

function list(links: readonly string[]): string {
  const items = links.map((link) => {
    const { host } = new URL(link)
    return `<li><a href="${escapeHtml(link)}">${escapeHtml(host)}</a></li>\n`
  })
  return `<h2>Other relays that can look</h2>
<p>Each of them looks among the relays that it knows. Others run them.</p>
<ul>
${items.join('')}</ul>
`
}
