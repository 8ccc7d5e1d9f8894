// Finds regular expressions that take more than linear time on some text, in everything that is published or run.
// `node scripts/lint/regular-expressions.ts [directory]` prints them, one a line, and exits with 1 when there are any.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { analyse } from 'scslre'
import { Constants } from './constants.ts'
import { type Node, parse, walk } from './syntax-tree.ts'

/** Tests, benchmarks and the end-to-end suite match what they made themselves. */
const SOURCES = [
  '{protocol,yamux,tls,payment,node-kit,dns,relay,relay/web,sdk-core,sdk-browser,sdk-node,sdk-node/web}/src/**/*.{ts,tsx}',
  '{examples,scripts}/**/*.{ts,tsx,mjs,js}',
]
const NOT_OURS = /(?:^|[/\\])(?:node_modules|dist|test|app[/\\](?:build|\.[^/\\]*))(?:[/\\]|$)/

/** @returns a line for each regular expression in `directory` that is slow, or that cannot be known before it runs */
export function findSlowPatterns(directory: string): string[] {
  const files = globSync(SOURCES, { cwd: directory, exclude: (file) => NOT_OURS.test(file) }).sort()
  const constants = new Constants(directory)
  return files.flatMap((file) => {
    const text = readFileSync(path.join(directory, file), 'utf8')
    const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length
    const findings: string[] = []
    walk(parse(file, text), (node) => {
      const verdict = judge(node, (value) => constants.valueOf(value, path.join(directory, file)))
      if (verdict !== undefined) findings.push(`${file}:${lineAt(node.start)}: ${verdict}`)
    })
    return findings
  })
}

/** @returns what is wrong with `node`, when it makes a regular expression and something is */
function judge(node: Node, evaluate: (node: Node) => unknown): string | undefined {
  const { regex } = node as { regex?: { pattern: string; flags: string } }
  if (regex) return slowness(regex.pattern, regex.flags)
  const isCall = node.type === 'NewExpression' || node.type === 'CallExpression'
  if (!isCall || (node.callee as Node).name !== 'RegExp') return undefined
  const [source, flags = ''] = (node.arguments as Node[]).map(evaluate)
  if (typeof source === 'string' && typeof flags === 'string') return slowness(source, flags)
  return 'this regular expression is made of more than constants, so that nobody can tell how long it takes'
}

function slowness(source: string, flags: string): string | undefined {
  const { reports } = analyse({ source, flags })
  const [report] = reports
  if (report === undefined) return undefined
  const time = reports.some((one) => one.exponential) ? 'exponential' : 'quadratic'
  return `/${source}/${flags} takes ${time} time on many ${JSON.stringify(report.character.pick)}: ${WHY[report.type]}`
}

const WHY = {
  Move: 'it runs from each place to the end; anchor it, or use indexOf',
  Self: 'a repetition repeats itself; say it once',
  Trade: 'two repetitions take the same text; let only one',
} as const

if (import.meta.main) {
  const findings = findSlowPatterns(path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '../..')))
  for (const finding of findings) console.log(finding)
  process.exitCode = findings.length > 0 ? 1 : 0
}
