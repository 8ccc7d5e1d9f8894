// The page of `/go/` for a site that visitors cannot reach now: it is self-contained, and asks this relay again from time to
// time.

import { escapeHtml } from '@svc/protocol/documents'
import { type GoDocument, goDocument, nameOf } from './go-document.ts'
import type { GoTarget } from './go-target.ts'

/**
 * Why visitors are not led to the site.
 * - `away`: it is not here, for whatever reason
 * - `approval`: it asked to be listed, and waits for the operator's approval
 * - `draining`: this relay is closing
 * - `busy`: too many visitors came
 */
export type Absence = 'away' | 'approval' | 'draining' | 'busy'

export interface GoPage {
  absence: Absence
  target: GoTarget
  /** URLs of the same `/go/` page at other relays. */
  links: readonly string[]
  /** Seconds until the page may ask again. */
  retryS: number
  /** Numbers of relays asked, and of relays known; undefined when none was asked. */
  asked?: { asked: number; known: number } | undefined
}

/**
 * Runs in the page. It sends HEAD without following a redirect; on one, it reloads the page. It waits longer each time,
 * and at least as long as the relay says. While the page is hidden, it sends nothing.
 */
const SCRIPT = `
const FACTOR = 1.5, MAX_S = 60
const state = document.getElementById('state')
let seconds = Number(document.querySelector('main').dataset.retry), timer, isLooking = false
const wait = () => { timer = setTimeout(look, seconds * 1000) }
const look = async () => {
  if (document.hidden || isLooking) return
  isLooking = true
  clearTimeout(timer)
  let least = 0
  try {
    const answer = await fetch(location.href, { method: 'HEAD', redirect: 'manual', cache: 'no-store' })
    if (answer.type === 'opaqueredirect' || answer.ok) {
      state.textContent = 'The site is online: opening it.'
      return location.reload()
    }
    least = Number(answer.headers.get('Retry-After')) || 0
  } catch {}
  isLooking = false
  seconds = Math.max(least, Math.min(seconds * FACTOR, MAX_S))
  wait()
}
document.addEventListener('visibilitychange', look)
state.textContent = 'This page opens the site when it is back. It looks from time to time while you see it.'
wait()
`

export function renderGoPage({ absence, target, links, retryS, asked }: GoPage): GoDocument {
  const { label, isCanonical, rest } = target
  const name = nameOf(label)
  const title = HEADINGS[absence](name)
  const address = isCanonical ? ` The site’s address is <code>${label}</code>.` : ''
  return goDocument({
    title,
    mainAttributes: ` data-retry="${retryS}"`,
    script: SCRIPT,
    main: `<h1>${title}</h1>
<p>${asked === undefined ? REASONS[absence] : searched(asked)}${address}</p>
<p id="state" role="status">Scripts are off here: this page does not look again by itself. Choose “Look again” in a minute.</p>
<p><a class="action" href="${escapeHtml(`/go/${label}${rest}`)}">Look again</a></p>
${links.length === 0 ? '' : list(links)}`,
  })
}

/** The page for a path that no site can have. */
export function renderNoSitePage(): GoDocument {
  return goDocument({
    title: 'No site has such an address',
    main: `<h1>No site has such an address</h1>
<p>Somebody may have copied only a part of the link, or mistyped it.</p>
`,
  })
}

const HEADINGS: Readonly<Record<Absence, (name: string) => string>> = {
  away: (name) => `${name} is not here right now`,
  approval: (name) => `${name} waits for approval`,
  draining: (name) => `The relay of ${name} is closing`,
  busy: (name) => `${name} is not here right now`,
}

const REASONS: Readonly<Record<Absence, string>> = {
  away: 'No site with this name is online at this relay. It may be closed, or on its way back.',
  approval: 'The operator of this relay has not let visitors in yet.',
  draining: 'This relay takes no new visitors: it restarts, or goes out of service.',
  busy: 'This relay has too many visitors to look for the site now.',
}

function searched({ asked, known }: { asked: number; known: number }): string {
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
