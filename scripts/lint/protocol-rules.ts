// Finds numbered rules of docs/protocol.md that no test names in its title, as in `protocol §7.5.2`.
// `node scripts/lint/protocol-rules.ts` prints what is wrong, one a line, and exits with 1 then.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parse, walk } from './syntax-tree.ts'

const PAGE = 'docs/protocol.md'
/** A row of a table, or an item of a list, that begins with the number of a rule. */
const RULE = /^(?:\| |- )\*\*(\d+\.\d+\.\d+)\*\*/gm
const TESTS = '{protocol,yamux,payment,relay,sdk-core,sdk-browser,sdk-node,e2e}/**/*.{test,spec}.ts'
const NOT_OURS = /(?:^|[/\\])(?:node_modules|dist)(?:[/\\]|$)/
/** Numbers of RFCs look alike: a title says that it means the protocol. */
const NAMED = /\bprotocol((?:,? §\d+\.\d+\.\d+)+)/g

/** @returns a line for each rule and title that does not fit the others */
export function findRuleFaults(directory: string): string[] {
  const rules = [...readFileSync(path.join(directory, PAGE), 'utf8').matchAll(RULE)].map(
    ([, rule]) => `${rule}`,
  )
  const known = new Set(rules)
  const named = namedRules(directory)
  return [
    ...rules
      .filter((rule, at) => rules.indexOf(rule) !== at)
      .map((rule) => `${PAGE}: §${rule} is there twice`),
    ...rules.filter((rule) => !named.has(rule)).map((rule) => `${PAGE}: no test names §${rule}`),
    ...[...named].filter(([rule]) => !known.has(rule)).map(([rule, file]) => `${file}: there is no §${rule}`),
  ]
}

/** @returns each rule that a text in a test file names, with the first such file. Comments do not count. */
function namedRules(directory: string): Map<string, string> {
  const named = new Map<string, string>()
  const files = globSync(TESTS, { cwd: directory, exclude: (file) => NOT_OURS.test(file) }).sort()
  for (const file of files) {
    const text = readFileSync(path.join(directory, file), 'utf8')
    if (!text.includes('protocol §')) continue
    walk(parse(file, text), (node) => {
      const { value } = node as { value?: unknown }
      if (node.type !== 'Literal' || typeof value !== 'string') return
      for (const [, numbers = ''] of value.matchAll(NAMED))
        for (const [rule] of numbers.matchAll(/(?<![\d.])\d+\.\d+\.\d+/g))
          if (!named.has(rule)) named.set(rule, file)
    })
  }
  return named
}

if (import.meta.main) {
  const faults = findRuleFaults(path.join(import.meta.dirname, '../..'))
  for (const fault of faults) console.log(fault)
  process.exitCode = faults.length > 0 ? 1 : 0
}
