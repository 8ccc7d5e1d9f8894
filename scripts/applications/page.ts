// The section of docs/internals/compatibility.md with the applications that were run behind `svc expose`, and what came of it.

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

/** What works as it is stands in one line: readers look for the rest. */
export function asSection(rows: readonly ApplicationRow[]): string {
  const isPlain = ({ setting, isFailed, result }: ApplicationRow): boolean =>
    setting === undefined && !isFailed && result === 'works'
  const plain = rows.filter(isPlain).map(({ name, version }) => (version ? `${name} ${version}` : name))
  const lines = rows
    .filter((row) => !isPlain(row))
    .map(({ name, version, setting, result }) =>
      [name, version ?? '–', setting ?? 'none', result]
        .map((cell) => cell.replaceAll('|', '\\|'))
        .join(' | '),
    )
  const table = lines.length === 0 ? '' : `\n${HEAD}${lines.map((line) => `| ${line} |\n`).join('')}`
  return `Without a setting, these work: ${plain.join('; ')}.\n${table}${FOOT}`
}
