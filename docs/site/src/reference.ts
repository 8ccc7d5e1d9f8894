// The API reference as pages of the site, where `DOCS_REFERENCE` names the folder that docs/reference/make.ts has filled.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import Slugger from 'github-slugger'
import { ENTRIES, type Entry } from '../../reference/entries.ts'
import { type Page, pageOf } from './pages.ts'
import { root } from './sections.ts'

const INDEX = 'reference/README.md'

/** @returns none without the folder */
export function readReference(): Page[] {
  const folder = process.env.DOCS_REFERENCE
  if (folder === undefined) return []
  const files = globSync('**/*.md', { cwd: folder }).filter((file) => file !== 'README.md')
  const pages = files.map((file) => referencePage(file, readFileSync(path.join(folder, file), 'utf8')))
  return [indexOf(pages), ...pages.toSorted((a, b) => orderOf(a) - orderOf(b) || (a.file < b.file ? -1 : 1))]
}

/** @param file as TypeDoc names it: `sdk-core/src/payer.md`, `tls/src/messages/namespaces/VERSION.md` */
function referencePage(file: string, text: string): Page {
  const source = file.replace(/\/namespaces\/.*/, '').replace(/(?:\/README)?(?:\.md)?$/, '')
  const entry = ENTRIES.find((one) => one.file === `${source}/index.ts`)
  const namespace = /\/namespaces\/(\w+)\.md$/.exec(file)?.[1]
  if (entry === undefined) throw new Error(`${file} is of no entry in docs/reference/entries.ts`)
  const title = namespace === undefined ? entry.name : `${entry.name}: ${namespace}`
  const page = pageOf(`reference/${file}`, withoutDoubledAnchors(text))
  const slug = `reference/${title.replace('@svc/', '').replace(': ', '/')}`.toLowerCase()
  return { ...page, title, slug, description: `${title}: ${descriptionOf(entry)}` }
}

function indexOf(pages: readonly Page[]): Page {
  const rows = ENTRIES.map((entry) => {
    const page = pages.find(({ title }) => title === entry.name)
    return `| [\`${entry.name}\`](${path.posix.relative('reference', page?.file ?? '')}) | ${descriptionOf(entry)} |`
  })
  const text = [
    '# API reference',
    '',
    'Each export of the published packages, from their docstrings. The pages of the guide say how to use them.',
    '',
    '| import | what it is |',
    '|---|---|',
    ...rows,
    '',
  ]
  return { ...pageOf(INDEX, text.join('\n')), slug: 'reference' }
}

function descriptionOf({ file, description }: Entry): string {
  if (description !== undefined) return description
  const manifest = readFileSync(path.join(root, file.split('/')[0] ?? '', 'package.json'), 'utf8')
  return (JSON.parse(manifest) as { description: string }).description
}

/** The position of its entry; a namespace follows it. */
function orderOf({ title }: Page): number {
  return ENTRIES.findIndex(({ name }) => name === title.split(': ')[0])
}

/** TypeDoc writes an anchor before each heading; most have the name that the heading gets anyway. */
function withoutDoubledAnchors(markdown: string): string {
  const slugger = new Slugger()
  return markdown.replace(
    /(?:<a id="([\w-]+)"><\/a>\n\n)?^(#+) ([^\n]+)$/gm,
    (all, id: string | undefined, marks: string, heading: string) => {
      const slug = marks === '#' ? undefined : slugger.slug(heading.replace(/[\\`]/g, ''))
      return id === slug ? `${marks} ${heading}` : all
    },
  )
}
