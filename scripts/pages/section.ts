// Sections of pages that a program writes: what is between `<!-- NAME -->` and `<!-- end of NAME -->`.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../../tools/programs/command.ts'

/** Which software, runtimes and handlers were tried. */
export const COMPATIBILITY_PAGE = 'docs/internals/compatibility.md'

/**
 * @param page the text of a page
 * @returns the page with the section's text replaced
 * @throws Error when the page has no such section
 */
export function withSection(page: string, name: string, text: string): string {
  const begin = `<!-- ${name} -->\n`
  const [before, rest] = split(page, begin)
  const [, after] = split(rest, `<!-- end of ${name} -->`)
  return `${before}${begin}\n${text.trim()}\n\n<!-- end of ${name} -->${after}`
}

/** Replaces the section in a page of the repository. @throws Error when the page has no such section */
export function writeSection(page: string, name: string, text: string): void {
  const file = path.join(root, page)
  writeFileSync(file, withSection(readFileSync(file, 'utf8'), name, text))
}

function split(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark)
  if (at === -1) throw new Error(`the page has no ${mark.trim()}`)
  return [text.slice(0, at), text.slice(at + mark.length)]
}
