// Renders a folder as an HTML page of links.

import { escapeHtml } from '@svc/protocol/documents'
import type { DirectoryEntry } from './file-tree.ts'

/** With this policy, no name of a file can inject anything into the page. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"

/** The latest time that a Date can have, in milliseconds (ECMA-262 §21.4.1.1). */
const TIME_MAX_MS = 8.64e15

/**
 * Returns the page.
 * @param path the decoded path of the folder, for display
 * @param isWhole whether `items` has all files and folders
 */
export function directoryListing(path: string, items: readonly DirectoryEntry[], isWhole: boolean): Response {
  const sorted = items.toSorted(
    (a, b) =>
      Number(b.isFolder) - Number(a.isFolder) || a.name.localeCompare(b.name, undefined, { numeric: true }),
  )
  const rows = [...(path === '/' ? [] : [row('..', '../')]), ...sorted.map(itemRow)]
  const title = escapeHtml(path)
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>
  html { background: Canvas }
  body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 40rem; padding: clamp(1rem, 5vw, 3rem) 1.25rem }
  h1 { font-size: 1.4rem; overflow-wrap: anywhere }
  ul { list-style: none; padding: 0 }
  li { border-top: 1px solid color-mix(in srgb, currentcolor 20%, transparent); display: flex; gap: 1rem; justify-content: space-between }
  a { flex: 1; overflow-wrap: anywhere; padding: .6rem 0 }
  span, time { font-variant-numeric: tabular-nums; opacity: .75; padding: .6rem 0; text-align: end; white-space: nowrap }
  span { min-width: 4rem }
  @media (max-width: 30rem) { time { display: none } }
</style>
<main>
<h1>${title}</h1>
<ul>
${rows.join('\n')}
</ul>
${items.length === 0 ? '<p>Nothing here yet.</p>' : ''}${isWhole ? '' : `<p>Only ${items.length} are listed here.</p>`}
</main>
</html>
`
  const headers = {
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Content-Type': 'text/html; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
  }
  return new Response(html, { headers })
}

function itemRow({ name, isFolder, size, modified }: DirectoryEntry): string {
  const slash = isFolder ? '/' : ''
  // The leading dot makes it a path, even if a name looks like a scheme or a host.
  return row(
    name + slash,
    `./${encodeURIComponent(name.toWellFormed())}${slash}`,
    formatTime(modified) + formatSize(size),
  )
}

/** @param figures HTML */
function row(text: string, href: string, figures = ''): string {
  return `<li><a href="${escapeHtml(href)}">${escapeHtml(text)}</a>${figures}</li>`
}

/** Formats a time in UTC, because visitors may be anywhere. A folder may be full of files with wrong times. */
function formatTime(modified: number | undefined): string {
  if (modified === undefined || !(Math.abs(modified) <= TIME_MAX_MS)) return ''
  const time = new Date(modified).toISOString()
  return `<time datetime="${time}">${time.slice(0, -8).replace('T', ' ')} UTC</time>`
}

function formatSize(bytes: number | undefined): string {
  if (bytes === undefined) return '<span></span>'
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  return `<span>${Number((bytes / 1000 ** power).toPrecision(3))} ${units[power]}</span>`
}
