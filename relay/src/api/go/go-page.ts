// The page of `/go/` for a site that was not found: it stands alone, and asks this relay again from time to time.

import { createHash } from 'node:crypto'
import type { GoTarget } from './go-target.ts'

export interface GoPage {
  target: GoTarget
  /** URLs of the same question at other relays. */
  links: readonly string[]
  /** Seconds until the page may look again. */
  retryS: number
  /** Relays that were asked, and those that are known; undefined when the relay was too busy to ask. */
  asked?: { asked: number; known: number }
}

/** The colours and type of the relay's other pages. */
const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f5f2, #15171a);
  --surface: light-dark(#fff, #1e2125);
  --text: light-dark(#1c1e21, #e8e6e1);
  --quiet: light-dark(#5c6066, #a3a8b0);
  --line: light-dark(#dddad3, #33373d);
  --accent: light-dark(#0b6b57, #4cc9a7);
  font: 1rem / 1.5 system-ui, sans-serif;
}
body { background: var(--ground); color: var(--text); margin: 0; overflow-wrap: anywhere; }
main { box-sizing: border-box; margin: 0 auto; max-width: 40rem; padding: clamp(1.25rem, 5vw, 3rem) 1.25rem; }
h1 { font-size: clamp(1.6rem, 6vw, 2.25rem); letter-spacing: -0.02em; line-height: 1.2; margin: 0 0 0.5rem; }
h2 { font-size: 1.1rem; line-height: 1.2; margin: 2rem 0 0.5rem; }
p { margin: 0 0 1rem; }
a { color: var(--accent); }
a.again {
  background: var(--surface);
  border: 1px solid currentcolor;
  border-radius: 0.5rem;
  display: inline-block;
  padding: 0.6rem 1rem;
  text-decoration: none;
}
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
ul { border-top: 1px solid var(--line); list-style: none; margin: 0; padding: 0; }
li { border-bottom: 1px solid var(--line); }
li a { display: block; padding: 0.6rem 0; }
code { font-family: ui-monospace, monospace; font-size: 0.9em; }
#state { color: var(--quiet); min-height: 3em; }
`

/**
 * Runs in the page. It asks with HEAD, whose redirect it does not follow: the page itself goes there then. It waits longer each
 * time, as long as the relay says, and not while nobody sees the page.
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
    if (answer.type === 'opaqueredirect') {
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
state.textContent = 'This page looks again from time to time while you see it, and leads you to the site when it is back.'
wait()
`

/** Runs this script and style alone, and lets the script ask this relay alone. */
export const GO_PAGE_POLICY: string = [
  "default-src 'none'",
  `script-src ${sourceHash(SCRIPT)}`,
  `style-src ${sourceHash(STYLE)}`,
  'img-src data:',
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function renderGoPage({ target: { label, rest }, links, retryS, asked }: GoPage): string {
  const name = label.slice(0, label.lastIndexOf('-'))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${name} is not here now</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body data-retry="${retryS}">
<main>
<h1>${name} is not here now</h1>
<p>${asked === undefined ? BUSY : absence(asked)} The site’s address is <code>${label}</code>.</p>
<p id="state" role="status">Scripts are off here: this page does not look again by itself. Choose “Look again” in a minute.</p>
<p><a class="again" href="${escapeHtml(`/go/${label}${rest}`)}">Look again</a></p>
${links.length === 0 ? '' : list(links)}</main>
<script>${SCRIPT}</script>
</body>
</html>
`
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

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

function sourceHash(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`
}
