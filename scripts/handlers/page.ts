// The table of docs/internals/compatibility.md with what handlers get from `publish` and from other runtimes.
import type { Feature, Runtime } from './feature.ts'

export const RUNTIMES: readonly Runtime[] = ['Deno.serve', 'Bun.serve', 'workerd']

export interface FeatureRow {
  feature: Feature
  ours: string
  theirs: Record<Runtime, string>
}

function headOf(versions: Record<Runtime, string>): string {
  const columns = RUNTIMES.map((runtime) => `\`${runtime}\` ${versions[runtime]}`)
  return `| feature | \`publish\` | ${columns.join(' | ')} | why they differ |
|---|---|---|---|---|---|
`
}

/** What is the same everywhere is named in front of the table, and has no row. */
export function asSection(rows: readonly FeatureRow[], versions: Record<Runtime, string>): string {
  const isSame = ({ ours, theirs }: FeatureRow): boolean =>
    RUNTIMES.every((runtime) => theirs[runtime] === ours)
  const same = rows.filter(isSame).map(({ feature }) => feature.name)
  const lines = rows
    .filter((row) => !isSame(row))
    .map(({ feature, ours, theirs }) => {
      const others = RUNTIMES.map((runtime) => cellOf(ours, theirs[runtime]))
      const reasons = [...new Set(Object.values(feature.why ?? {}))]
      return `| ${[feature.name, inCell(ours), ...others, reasons.join(' ') || '–'].join(' | ')} |\n`
    })
  return `The same everywhere: ${same.join(', ')}.\n\n${headOf(versions)}${lines.join('')}`
}

function cellOf(ours: string, theirs: string): string {
  if (isMissing(theirs)) return 'missing'
  return ours === theirs ? 'same' : `different: ${inCell(theirs)}`
}

function inCell(text: string): string {
  return isMissing(text) ? 'missing' : text.replaceAll('|', '\\|')
}

/** Whether the handler found no API for it. */
function isMissing(text: string): boolean {
  return text === '501, missing'
}

/** Differences without a reason, and reasons without a difference; what is missing needs none. */
export function unexplained({ feature: { name, why }, ours, theirs }: FeatureRow): string[] {
  return RUNTIMES.filter((runtime) => {
    const differs = ours !== theirs[runtime] && !isMissing(theirs[runtime])
    return differs !== (why?.[runtime] !== undefined)
  }).map((runtime) => `${name}: publish: ${ours}; ${runtime}: ${theirs[runtime]}`)
}
