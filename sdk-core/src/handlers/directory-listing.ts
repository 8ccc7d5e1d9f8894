// Renders a folder as an HTML page of links.

import { escapeHtml, small } from '@svc/protocol/documents'
import { ARCHIVE } from './archive.ts'
import { documentAnswer, styleSource } from './document-answer.ts'
import type { DirectoryEntry } from './file-tree.ts'
import { isViewable, VIEW } from './text-view.ts'

/** A Listing is what a page shows of a folder. */
export interface Listing {
  /** The names of the top folder and of those that lead to this one. */
  names: readonly string[]
  items: readonly DirectoryEntry[]
  /** Whether `items` has all files and folders. */
  isWhole: boolean
  /** The order: a key of {@link ORDERS}, after a `-` when it is the other way round. */
  order: string
  /** The links to other answers of the handler. */
  links: { orders: boolean; archive: boolean }
}

/** The parameter of the order. */
export const ORDER = 'sort'

/** The largest image that is its own preview, in bytes. */
const PREVIEW_MAX_BYTES: number = 1024 * 1024
const IMAGE = /\.(?:avif|gif|jpe?g|png|svg|webp)$/i
/** The latest time that a Date can have, in milliseconds (ECMA-262 §21.4.1.1). */
const TIME_MAX_MS = 8.64e15

const STYLE: string = small(`
body { max-inline-size: 60rem; }
.facts { align-items: center; display: flex; flex-wrap: wrap; gap: var(--space-2) var(--space-4); justify-content: space-between; margin: 0 0 var(--space-4); }
.facts p { color: var(--quiet); margin: 0; }
table { border-collapse: collapse; inline-size: 100%; }
th, td { border-block-end: 1px solid var(--line); font-variant-numeric: tabular-nums; padding: 0; text-align: end; white-space: nowrap; }
th { font-size: var(--size-small); }
th, .figure { padding-inline-start: var(--space-4); }
th:first-child, td:first-child { inline-size: 100%; padding: 0; text-align: start; white-space: normal; }
tbody tr:last-child td { border: 0; }
th a { color: var(--quiet); display: inline-block; padding-block: var(--space-3); text-decoration: none; }
th[aria-sort] a { color: var(--text); }
th[aria-sort=ascending] a::after { content: " ↑"; }
th[aria-sort=descending] a::after { content: " ↓"; }
.figure { color: var(--quiet); font-size: var(--size-small); }
td div { align-items: center; display: flex; gap: var(--space-3); min-block-size: 3rem; }
td div a:first-of-type { flex: 1; padding-block: var(--space-3); }
td a { text-decoration: none; }
td a:hover { text-decoration: underline; }
td svg { block-size: 1.5rem; fill: none; flex: none; inline-size: 2rem; stroke: var(--quiet); stroke-linejoin: round; stroke-width: 1.5; }
.folder svg { fill: var(--accent-ground); stroke: var(--accent); }
td img { background: var(--ground); block-size: 2rem; border-radius: var(--space-1); flex: none; inline-size: 2rem; object-fit: cover; }
@media (max-width: 38rem) { .time { display: none; } }
`)

/** Of the style, for the policy. */
let source: Promise<string> | undefined

const ICONS =
  '<svg hidden><symbol id="folder" viewBox="0 0 24 24"><path d="M3 6.5A1.5 1.5 0 0 1 4.5 5H9l2 2.5h8.5A1.5 1.5 0 0 1 21 9v8.5a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17.5Z"/></symbol><symbol id="file" viewBox="0 0 24 24"><path d="M6 3.5h7.5L18 8v12.5H6ZM13.5 3.5V8H18"/></symbol></svg>'

/** Orders compare two entries; of those that are equal, the names decide. */
const ORDERS: Readonly<Record<string, (entry: DirectoryEntry) => number>> = {
  name: () => 0,
  size: ({ size = -1 }) => size,
  date: ({ modified = -TIME_MAX_MS }) => modified,
}

export async function directoryListing(listing: Listing): Promise<Response> {
  const { names, items, isWhole, links } = listing
  const title = names.at(-1) ?? ''
  const isTop = names.length === 1
  const rows = [...(isTop ? [] : [upRow()]), ...sorted(listing).map((item) => itemRow(item, links.orders))]
  const main = `${isTop ? '' : trail(names)}<h1>${escapeHtml(title)}</h1>
<div class="facts"><p>${totalOf(items, isWhole)}</p>
${links.archive && items.length > 0 ? `<a class="action plain" href="${ARCHIVE}">Download all as ZIP</a>` : ''}</div>
${rows.length === 0 ? '' : `${ICONS}<table>\n<thead><tr>${headings(listing)}</tr></thead>\n<tbody>\n${rows.join('\n')}\n</tbody>\n</table>`}`
  source ??= styleSource(STYLE)
  const document = { title, main, style: STYLE, styleSource: await source, hasImages: true }
  return documentAnswer(200, document, { 'Cache-Control': 'no-cache' })
}

/** Folders come first, and names with numbers in the order of these. */
function sorted({ items, order }: Listing): DirectoryEntry[] {
  const measure = ORDERS[keyOf(order)]!
  const sign = order.startsWith('-') ? -1 : 1
  return items.toSorted(
    (a, b) =>
      Number(b.isFolder) - Number(a.isFolder) ||
      sign * (measure(a) - measure(b) || a.name.localeCompare(b.name, undefined, { numeric: true })),
  )
}

function keyOf(order: string): string {
  const key = order.replace('-', '')
  return Object.hasOwn(ORDERS, key) ? key : 'name'
}

/** The way here from the top folder. */
function trail(names: readonly string[]): string {
  const links = names
    .slice(0, -1)
    .map((name, index) => `<a href="${'../'.repeat(names.length - 1 - index)}">${escapeHtml(name)}</a> / `)
  return `<nav aria-label="Folders">${links.join('')}<span aria-current="page">${escapeHtml(names.at(-1) ?? '')}</span></nav>\n`
}

function headings({ order, links }: Listing): string {
  const heading = (key: string, text: string, name: string): string => {
    if (!links.orders) return `<th scope="col"${name}>${text}</th>`
    const isDown = order === `-${key}`
    const isUsed = keyOf(order) === key
    const sort = isUsed ? ` aria-sort="${isDown ? 'descending' : 'ascending'}"` : ''
    return `<th scope="col"${name}${sort}><a href="?${ORDER}=${isUsed && !isDown ? '-' : ''}${key}">${text}</a></th>`
  }
  return (
    heading('name', 'Name', '') + heading('date', 'Changed', ' class="time"') + heading('size', 'Size', '')
  )
}

function totalOf(items: readonly DirectoryEntry[], isWhole: boolean): string {
  if (items.length === 0) return 'Nothing here yet.'
  const files = items.filter(({ isFolder }) => !isFolder)
  const folders = items.length - files.length
  const sizes = files.map(({ size }) => size ?? Number.NaN)
  const bytes = sizes.reduce((total, size) => total + size, 0)
  const parts = [
    ...(folders === 0 ? [] : [`${folders} ${folders === 1 ? 'folder' : 'folders'}`]),
    ...(files.length === 0 ? [] : [`${files.length} ${files.length === 1 ? 'file' : 'files'}`]),
    ...(files.length > 0 && bytes >= 0 ? [sizeText(bytes)] : []),
  ]
  return isWhole ? parts.join(', ') : `Only ${items.length} are listed here.`
}

function upRow(): string {
  return row({ text: '..', href: '../', icon: icon('folder'), label: ' aria-label="The folder above"' })
}

function itemRow(entry: DirectoryEntry, hasViews: boolean): string {
  const { name, isFolder, size, modified } = entry
  const slash = isFolder ? '/' : ''
  // The leading dot makes it a path, even if a name looks like a scheme or a host.
  const href = `./${encodeURIComponent(name.toWellFormed())}${slash}`
  const isPreview = !isFolder && IMAGE.test(name) && size !== undefined && size <= PREVIEW_MAX_BYTES
  const label = `aria-label="View ${escapeHtml(name)}"`
  return row({
    text: name + slash,
    href,
    icon: isPreview
      ? `<img src="${escapeHtml(href)}" alt="" loading="lazy" width="32" height="32">`
      : icon(isFolder ? 'folder' : 'file'),
    view:
      hasViews && !isFolder && isViewable(name)
        ? `<a ${label} href="${escapeHtml(href)}${VIEW}">View</a>`
        : '',
    time: timeElement(modified),
    size: size === undefined ? '' : sizeText(size),
    isFolder,
  })
}

interface Row {
  text: string
  href: string
  /** HTML, as are the following. */
  icon: string
  label?: string
  view?: string
  time?: string
  size?: string
  isFolder?: boolean
}

function row({
  text,
  href,
  icon,
  label = '',
  view = '',
  time = '',
  size = '',
  isFolder = true,
}: Row): string {
  const name = `${icon}<a href="${escapeHtml(href)}"${label}>${escapeHtml(text)}</a>${view}`
  return `<tr${isFolder ? ' class="folder"' : ''}><td><div>${name}</div></td><td class="figure time">${time}</td><td class="figure">${size}</td></tr>`
}

function icon(name: string): string {
  return `<svg aria-hidden="true"><use href="#${name}"/></svg>`
}

/** The time is in UTC, because visitors may be anywhere. A folder may be full of files with wrong times. */
function timeElement(modified: number | undefined): string {
  if (modified === undefined || !(Math.abs(modified) <= TIME_MAX_MS)) return ''
  const time = new Date(modified).toISOString()
  return `<time datetime="${time}">${time.slice(0, -8).replace('T', ' ')} UTC</time>`
}

function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${units[power]}`
}
