// The table of docs/internals/compatibility.md with the applications that were run behind `svc expose`, and what came of it.

export interface ApplicationRow {
  name: string
  setting: string | undefined
  version?: string | undefined
  isFailed: boolean
  /** `works`, or why not. */
  result: string
}

const HEAD = `| target | version | setting | result |
|---|---|---|---|
`

/** Names wanted software that no run has tried, and why. */
const MISSING: readonly (readonly [name: string, reason: string])[] = [
  ['Phoenix channels', 'Debian has Elixir, but neither Phoenix nor what it needs from Hex'],
  ['ASP.NET Core', 'neither Debian nor any of the registries has its runtime'],
  ['Gitea, Grafana, MinIO', 'Debian has no package of them, and a Go module alone is no built release'],
  ['code-server', 'it takes Node 24 alone, and its installation failed while it compiled native modules'],
]

const FOOT = `
Not run, since Debian, npm, PyPI, Maven and Go modules do not have it:

${MISSING.map(([name, reason]) => `- ${name}: ${reason}.\n`).join('')}`

export function asSection(rows: readonly ApplicationRow[]): string {
  const lines = rows.map(({ name, version, setting, result }) =>
    [name, version ?? '–', setting ?? 'none', result]
      .map((cell) => cell.replaceAll('|', '\\\\|'))
      .join(' | '),
  )
  return `${HEAD}${lines.map((line) => `| ${line} |\n`).join('')}${FOOT}`
}
