// The Markdown files of the repository as pages of the site: their addresses, titles, and the links between them. The files stay plain
// Markdown without front matter, which reads well where the code is.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { root, SECTIONS } from './sections.ts'

export interface Page {
  /** Its path, from the repository's root. */
  file: string
  /** Its address below `/docs/`, without a slash at the end; `''` for the first page. */
  slug: string
  title: string
  /** The beginning of its first paragraph, as plain text; that of a decision comes after its date. */
  description: string
  /** Its Markdown after the title, with the repository's links. */
  body: string
}

/** The folder of the pages' pictures. */
export const PICTURES = 'docs/pictures/'

/** Longest description, in characters: what search engines and chats show. */
const DESCRIPTION_MAX_CHARS = 160

/** Reads each page of the sidebar. */
export function readPages(): Page[] {
  return SECTIONS.flatMap(({ pages }) => pages).map((file) =>
    pageOf(file, readFileSync(path.join(root, file), 'utf8')),
  )
}

/** @throws Error for a page without a title */
export function pageOf(file: string, text: string): Page {
  const [, title, body] = /^# ([^\n]+)\n+([\s\S]*)$/.exec(text) ?? []
  if (title === undefined || body === undefined) throw new Error(`${file} begins with no title (# …)`)
  return {
    file,
    slug: slugOf(file),
    title: title.replaceAll('`', ''),
    description: descriptionOf(body),
    body,
  }
}

/** `docs/guide/http.md` is at `guide/http`, and the README of a folder at the folder. */
export function slugOf(file: string): string {
  const name = file.replace(/^docs\//, '').replace(/\.md$/, '')
  return (name === 'README' ? '' : name.replace(/\/README$/, '')).toLowerCase()
}

function descriptionOf(body: string): string {
  const isText = (part: string): boolean => /^[\w`*[“"]/.test(part) && !/^\d{4}-\d\d-\d\d, /.test(part)
  const paragraph = body.split(/\n\n+/).find(isText) ?? ''
  const text = paragraph
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
  if (text.length <= DESCRIPTION_MAX_CHARS) return text
  const words = text.slice(0, DESCRIPTION_MAX_CHARS).split(' ').slice(0, -1)
  return `${words.join(' ')} …`
}

/**
 * Turns the links of a file's Markdown into those of the site, outside code blocks. What leads to a file that is no page
 * keeps its words alone.
 * @param leadTo the address of a page, given its file and what follows it (`#…` or nothing); undefined for no page
 */
export function withLinks(
  { file, body }: Pick<Page, 'file' | 'body'>,
  leadTo: (file: string, anchor: string) => string | undefined,
): string {
  return outsideCode(body, (text) =>
    text.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (link, mark: string, words: string, target: string) => {
      if (/^(?:[a-z]+:|#)/.test(target)) return link
      const [name = '', anchor] = target.split('#')
      const address = leadTo(
        path.posix.join(path.posix.dirname(file), name),
        anchor === undefined ? '' : `#${anchor}`,
      )
      return address === undefined ? words : `${mark}[${words}](${address})`
    }),
  )
}

/** @returns the address of a picture on the site, and undefined for an address that is no picture */
export function pictureAt(file: string, base: string): string | undefined {
  return file.startsWith(PICTURES) ? file.replace(/^docs\//, base) : undefined
}

function outsideCode(markdown: string, change: (text: string) => string): string {
  return markdown
    .split(/^( *```[\s\S]*?^ *```)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('')
}
