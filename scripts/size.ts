// What a page downloads for `publish`: minified and gzipped, what it needs at once and what it loads later.
// `npm run size [-- --json]`; fails above the limit.
import path from 'node:path'
import { parseArgs } from 'node:util'
import { bundle, type Weight, weigh } from './lib/bundle.ts'

/** Above this, in bytes of gzip that a page downloads at once, the check fails. */
const LIMIT_BYTES: number = 60 * 1024
/** What is aimed for. */
const AIM_BYTES: number = 45 * 1024

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })
const chunks = weigh(await bundle(path.join(import.meta.dirname, 'lib', 'publish-entry.ts')))
const total = sum('at once', chunks, true)
const later = sum('later', chunks, false)
if (values.json) console.log(JSON.stringify({ chunks, gzip: total.gzip, aim: AIM_BYTES, limit: LIMIT_BYTES }))
else print([...chunks, total, later])
process.exitCode = total.gzip > LIMIT_BYTES ? 1 : 0

function sum(name: string, chunks: Weight[], eager: boolean): Weight {
  const some = chunks.filter((chunk) => chunk.eager === eager)
  const add = (key: 'raw' | 'gzip'): number => some.reduce((total, chunk) => total + chunk[key], 0)
  return { name, eager, raw: add('raw'), gzip: add('gzip') }
}

function print(rows: Weight[]): void {
  const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`.padStart(10)
  const width = Math.max(...rows.map((row) => row.name.length))
  console.log(`${''.padEnd(width)}  ${'raw'.padStart(10)}${'gzip'.padStart(10)}`)
  for (const { name, raw, gzip } of rows)
    console.log(`${name.padEnd(width)}  ${kilobytes(raw)}${kilobytes(gzip)}`)
  const verdict =
    total.gzip > LIMIT_BYTES ? 'over the limit' : total.gzip > AIM_BYTES ? 'above the aim' : 'within the aim'
  console.log(`${verdict}: aim ${kilobytes(AIM_BYTES).trim()}, limit ${kilobytes(LIMIT_BYTES).trim()}`)
}
