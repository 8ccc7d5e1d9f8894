// The page docs/internals/handler-features.md: what handlers get from `publish` and from other runtimes.
import type { Feature, Runtime } from './feature.ts'

export const RUNTIMES: readonly Runtime[] = ['Deno.serve', 'Bun.serve', 'workerd']

export interface FeatureRow {
  feature: Feature
  ours: string
  theirs: Record<Runtime, string>
}

function headOf(versions: Record<Runtime, string>): string {
  const columns = RUNTIMES.map((runtime) => `\`${runtime}\` ${versions[runtime]}`)
  return `# Features of handlers

\`npm run interop -- handlers\` wrote this page: one handler, served by \`publish\` of \`@svc/sdk-node\` at a local relay and by other runtimes, is asked
by HTTP/1.1, byte for byte. A cell is what a visitor gets: status, the fields that matter and the body. "same" is what \`publish\` does, "missing" what a
runtime has no API for. workerd is that of miniflare, without miniflare's proxy.

| feature | \`publish\` | ${columns.join(' | ')} | why they differ |
|---|---|---|---|---|---|
`
}

export function asPage(rows: readonly FeatureRow[], versions: Record<Runtime, string>): string {
  const lines = rows.map(({ feature, ours, theirs }) => {
    const others = RUNTIMES.map((runtime) => cellOf(ours, theirs[runtime]))
    const reasons = [...new Set(Object.values(feature.why ?? {}))]
    return `| ${[feature.name, inCell(ours), ...others, reasons.join(' ') || '–'].join(' | ')} |\n`
  })
  return headOf(versions) + lines.join('')
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
