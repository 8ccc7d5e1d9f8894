// Writes each page also as the Markdown that it was made of, for programs and for people who copy it; an index
// of them is `llms.txt`, and all in one `llms-full.txt`.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AstroIntegration } from 'astro'
import { type Page, pictureAt, readPages, withLinks } from '../pages.ts'
import { readReference } from '../reference.ts'
import { SECTIONS } from '../sections.ts'

const SUMMARY =
  'Publish an HTTPS server from a web page, a worker, Node or any local port. A small relay gives it a public hostname; TLS ends inside the page, so that the relay carries bytes it cannot read.'
/** Sections that say why and how it was made: in the index, and not in the text of all. */
const APART = new Set(['Internals', 'Decisions', 'Project'])

export function markdownTwins(): AstroIntegration {
  let base = '/'
  return {
    name: 'markdown-twins',
    hooks: {
      'astro:config:done': ({ config }) => {
        base = config.base.replace(/\/?$/, '/')
      },
      'astro:build:done': ({ dir }) => {
        const directory = fileURLToPath(dir)
        const pages = [...readPages(), ...readReference()]
        const texts = new Map(pages.map((page) => [page.file, textOf(page, pages, base)]))
        for (const page of pages) write(directory, twinOf(page), texts.get(page.file) ?? '')
        const ofFile = (file: string): Page | undefined => pages.find((page) => page.file === file)
        write(directory, 'llms.txt', indexOf(ofFile, base, pages))
        const all = SECTIONS.filter(({ label }) => !APART.has(label)).flatMap((section) => section.pages)
        write(directory, 'llms-full.txt', all.map((file) => texts.get(file)).join('\n'))
      },
    },
  }
}

/** The path of a page's Markdown, below the site. */
function twinOf({ slug }: Pick<Page, 'slug'>): string {
  return `${slug || 'index'}.md`
}

function textOf(page: Page, pages: readonly Page[], base: string): string {
  const leadTo = (file: string, anchor: string): string | undefined => {
    const target = pages.find((one) => one.file === file)
    return target ? `${base}${twinOf(target)}${anchor}` : pictureAt(file, base)
  }
  return `# ${page.title}\n\n${withLinks(page, leadTo)}`
}

function indexOf(ofFile: (file: string) => Page | undefined, base: string, pages: readonly Page[]): string {
  const line = (page: Page | undefined): string[] =>
    page ? [`- [${page.title}](${base}${twinOf(page)}): ${page.description}`] : []
  const sections = SECTIONS.map(({ label, pages }) => [
    `## ${label}`,
    '',
    ...pages.flatMap((file) => line(ofFile(file))),
    '',
  ])
  const reference = pages.filter(({ slug }) => slug.startsWith('reference/'))
  return [
    '# svc',
    '',
    `> ${SUMMARY}`,
    '',
    `The whole guide in one file is at ${base}llms-full.txt.`,
    '',
    ...sections.flat(),
    ...(reference.length > 0 ? ['## API reference', '', ...reference.flatMap(line), ''] : []),
  ].join('\n')
}

function write(directory: string, name: string, text: string): void {
  const file = path.join(directory, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
}
