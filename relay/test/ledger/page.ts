// docs/coverage.md: every row of the specification and of the wire, how the relay and both SDKs stand to it, and where
// that is proved.
import path from 'node:path'
import { LATER } from './later.ts'
import { ROWS } from './rows.ts'
import { type OfSdks, SDKS } from './sdks.ts'
import { sectionFiles } from './section-files.ts'
import { PARTS, type Standing, type Standings } from './standing.ts'
import { WIRE } from './wire.ts'

export const COVERAGE_PAGE: string = path.join(import.meta.dirname, '../../../docs/coverage.md')

const INTRODUCTION = `# Coverage

The relay and the SDKs follow two texts: the specification of the service, and a page (here "the wire") that fixes what the
specification leaves open. This page lists every row of both, in short, and says how it stands. \`npm run coverage\` makes it
from the ledger in \`relay/test/ledger/\`; \`npm test\` fails when it is out of date, when a test that it relies on is gone, and
when a part that is called planned is there.

- **proved**: a test shows it, in the file that is named. The rows of \`relay/test/ledger/*.test.ts\` are tests of that name.
- **planned**: a later part of the software brings it; until then the relay answers as the specification says of a feature
  that is off.
- **impossible**: it cannot be, or cannot be shown, and the page says why.
- **not proved**: the software does it as far as is known, but no test shows it, and the page says why.
`

/** Rows of a section, each with its standings: one for each column behind the row. */
type Section = [title: string, rows: [row: string, standings: Standing[]][]]

interface Chapter {
  title: string
  /** Whose standings they are. */
  columns: readonly string[]
  sections: Section[]
}

/** The whole page. */
export function coveragePage(): string {
  const chapters: Chapter[] = [
    { title: 'Specification, relay', columns: ['relay'], sections: specification() },
    { title: 'Wire, relay', columns: ['relay'], sections: sectionsOf(WIRE) },
    { title: 'Both texts, SDKs', columns: ['sdk-browser', 'sdk-node'], sections: sdks() },
  ]
  return [INTRODUCTION, counts(chapters), ...chapters.map(chapterText)].join('\n')
}

/** What the ledger's own tests prove, and behind it what is said of the other rows, by section. */
function specification(): Section[] {
  const files = new Map(sectionFiles())
  const own: Record<string, readonly string[]> = ROWS
  const other: Standings = LATER
  const titles = [...new Set([...Object.keys(own), ...Object.keys(other)])]
  return titles.map((title) => {
    const file = files.get(title) ?? ''
    const proved = (own[title] ?? []).map((row): [string, Standing[]] => [
      row,
      [{ is: 'proved', by: [{ file, test: row }] }],
    ])
    return [title, [...proved, ...rowsOf(other[title] ?? {})]]
  })
}

function sectionsOf(standings: Standings): Section[] {
  return Object.entries(standings).map(([title, rows]) => [title, rowsOf(rows)])
}

function rowsOf(rows: Standings[string]): Section[1] {
  return Object.entries(rows).map(([row, standing]) => [row, [standing]])
}

function sdks(): Section[] {
  const sections: Record<string, Record<string, OfSdks>> = SDKS
  return Object.entries(sections).map(([title, rows]) => [
    title,
    Object.entries(rows).map(([row, { browser, node }]) => [row, [browser, node]]),
  ])
}

function counts(chapters: readonly Chapter[]): string {
  const kinds = ['proved', 'planned', 'impossible', 'unproved'] as const
  const lines = chapters.flatMap(({ title, columns, sections }) =>
    columns.map((column, index) => {
      const all = sections.flatMap(([, rows]) => rows.map(([, standings]) => standings[index]?.is))
      const numbers = kinds.map((kind) => all.filter((one) => one === kind).length)
      return `| ${title} | ${column} | ${all.length} | ${numbers.join(' | ')} |`
    }),
  )
  const head =
    '| text | for | rows | proved | planned | impossible | not proved |\n|---|---|---|---|---|---|---|'
  return `${head}\n${lines.join('\n')}\n`
}

function chapterText({ title, columns, sections }: Chapter): string {
  const head =
    columns.length === 1
      ? '| row | status | where, or why |\n|---|---|---|'
      : `| row | ${columns.join(' | ')} |\n|---|${'---|'.repeat(columns.length)}`
  const separator = columns.length === 1 ? ' | ' : ': '
  const tables = sections.map(([name, rows]) => {
    const lines = rows.map(([row, standings]) => {
      const cells = standings.map((one) => cellText(one).join(separator))
      return `| ${[escaped(row), ...cells].join(' | ')} |`
    })
    return `### ${name}\n\n${head}\n${lines.join('\n')}\n`
  })
  return `## ${title}\n\n${tables.join('\n')}`
}

/** Status, and where or why. */
function cellText(standing: Standing): [status: string, detail: string] {
  switch (standing.is) {
    case 'proved':
      return ['proved', [...new Set(standing.by.map(({ file }) => linkTo(file)))].join(', ')]
    case 'planned':
      return ['planned', PARTS[standing.part].what]
    case 'impossible':
      return ['impossible', escaped(standing.why)]
    case 'unproved':
      return ['not proved', escaped(standing.why)]
  }
}

function linkTo(file: string): string {
  return `[${file.replace(/\/test\/|^e2e\//, (part) => (part === 'e2e/' ? 'e2e: ' : ': '))}](../${file})`
}

/** What Markdown would take for markup. */
function escaped(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('*', String.raw`\*`).replaceAll('|', String.raw`\|`)
}
