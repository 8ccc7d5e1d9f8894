// Shows the text of a file in a page: browsers save files of many types of text instead of showing them.

import { escapeHtml } from '@svc/protocol/documents'
import { documentAnswer } from './document-answer.ts'
import { mediaType } from './media-type.ts'

/** The query of the page. */
export const VIEW = '?view'
/** The most bytes that it shows: more than a person reads at once. */
const VIEW_MAX_BYTES: number = 256 * 1024

const TEXT =
  /^(?:text\/(?!html)|application\/(?:json|javascript|sql|toml|xml|yaml|x-sh|[\w.-]+\+(?:json|xml))\b)/
/** A long name has one line above the heading. */
const STYLE =
  'body{max-inline-size:60rem}nav{display:flex;gap:var(--space-1);white-space:nowrap}nav span{overflow:hidden;text-overflow:ellipsis}'
/** Names of text whose types are not registered, or are others'. */
const NAMES =
  /(?:^|\.)(?:c|cc|conf|cpp|cs|go|h|ini|java|jsx|kt|license|log|lua|makefile|php|pl|py|rb|readme|rs|sh|sql|swift|toml|ts|tsx|zig)$/i

/** Returns whether a file of this name is text that a page can show. */
export function isViewable(name: string): boolean {
  return NAMES.test(name) || TEXT.test(mediaType(name, ''))
}

export async function textView(file: File, name: string): Promise<Response> {
  const text = await file.slice(0, VIEW_MAX_BYTES).text()
  const shown =
    file.size > VIEW_MAX_BYTES ? `<p>This is the beginning. The file has ${file.size} bytes.</p>\n` : ''
  const main = `<nav aria-label="Folders"><a href="./">Folder</a> / <span aria-current="page">${escapeHtml(name)}</span></nav>
<h1>${escapeHtml(name)}</h1>
<p><a class="action plain" href="./${encodeURIComponent(name.toWellFormed())}" download>Download</a></p>
${shown}<pre tabindex="0" role="region" aria-label="Text">${escapeHtml(text)}</pre>`
  return documentAnswer(200, { title: name, main, style: STYLE }, { 'Cache-Control': 'no-cache' })
}
