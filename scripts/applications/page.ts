// The page docs/internals/applications.md: which applications were run behind `svc expose`, and what came of it.

export interface ApplicationRow {
  name: string
  checks: string
  setting: string | undefined
  version?: string | undefined
  isFailed: boolean
  /** `works`, or why not. */
  result: string
}

const HEAD = `# Applications behind \`svc expose\`

\`npm run interop -- applications\` wrote this page: it installs the software, starts it with its defaults, exposes it with \`svc expose PORT\` at
a local relay, and visits it as a browser does. "Setting" is what the owner of the application sets for the tunnel. A row that says "not run" could not be
had on the machine of the last run.

| target | version | setting | checked | result |
|---|---|---|---|---|
`

/** Names wanted software that no run has tried, and why. */
const MISSING: readonly (readonly [name: string, reason: string])[] = [
  ['Phoenix channels', 'Debian has Elixir, but neither Phoenix nor what it needs from Hex'],
  ['ASP.NET Core', 'neither Debian nor any of the registries has its runtime'],
  ['Gitea, Grafana, MinIO', 'Debian has no package of them, and a Go module alone is no built release'],
  ['code-server', 'it takes Node 24 alone, and its installation failed while it compiled native modules'],
]

const FOOT = `
## Not run

The run installs from Debian, npm, PyPI, Maven and Go modules alone. These could not be had so:

${MISSING.map(([name, reason]) => `- ${name}: ${reason}.\n`).join('')}`

export function asPage(rows: readonly ApplicationRow[]): string {
  const lines = rows.map(({ name, version, setting, checks, result }) =>
    [name, version ?? '–', setting ?? 'none', checks, result]
      .map((cell) => cell.replaceAll('|', '\\\\|'))
      .join(' | '),
  )
  return `${HEAD}${lines.map((line) => `| ${line} |\n`).join('')}${FOOT}`
}
