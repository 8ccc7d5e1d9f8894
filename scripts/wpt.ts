// The web platform's own tests of Headers, Request and Response over the SDK's globals, in a real Chromium:
// `npm run wpt [-- --checkout DIRECTORY] [FILE…]`. Each file runs twice, over the browser's own globals and over ours. What
// the browser passes ours have to pass, but for the differences that are their purpose (wpt/differences.ts).
import { parseArgs } from 'node:util'
import { compare, type FileOutcome } from './wpt/compare.ts'
import { ensureTests, findTests } from './wpt/tests.ts'

const { checkout, files } = readArguments() ?? usage()
const directory = checkout ?? (await ensureTests())
const found = findTests(directory).filter(
  (file) => files.length === 0 || files.some((one) => file.includes(one)),
)
const outcomes = await compare(directory, found, (outcome) => console.log(summaryOf(outcome)))
const sum = (key: 'passed' | 'ours' | 'meant'): number =>
  outcomes.reduce((total, one) => total + one[key].length, 0)
const faults = outcomes.flatMap(({ file, faults }) => faults.map((fault) => `${file}: ${fault}`))
console.log(
  `${outcomes.length} files; ${sum('passed')} tests that the browser passes, ${sum('ours')} of them with ours, ` +
    `${sum('meant')} differ as they are meant to, ${faults.length} faults`,
)
for (const fault of faults) console.error(`✗ ${fault}`)
process.exitCode = faults.length > 0 || sum('ours') === 0 ? 1 : 0

function summaryOf({ file, passed, ours, faults }: FileOutcome): string {
  return `${faults.length > 0 ? '✗' : '✓'} ${file}: ${ours.length} of ${passed.length}`
}

function readArguments(): { checkout: string | undefined; files: string[] } | undefined {
  try {
    const options = { checkout: { type: 'string' } } as const
    const { values, positionals } = parseArgs({ allowPositionals: true, options })
    return { checkout: values.checkout, files: positionals }
  } catch {
    return undefined
  }
}

function usage(): never {
  console.error('Usage: npm run wpt [-- --checkout DIRECTORY] [FILE…]')
  console.error('DIRECTORY is a checkout of https://github.com/web-platform-tests/wpt, FILE a part of a name')
  process.exit(2)
}
