// Measures what a page downloads for `publish`, minified and gzipped, at once and later; also for the globals, and what the
// relay's own pages download before they can be used. `npm run size [-- --json]`; fails above a limit.
import path from 'node:path'
import { parseArgs } from 'node:util'
import { bundle, type Weight, weigh, weighFirstLoad } from '../tools/bundler/bundle.ts'
import { root } from '../tools/programs/command.ts'

/** Bytes of gzip that a page may download at once: what it downloads now, rounded up, so that more of it is a decision. */
const LIMIT_BYTES = 60_500
/** Bytes of gzip that are aimed for. */
const AIM_BYTES: number = 45 * 1024
/** Bytes of gzip that the first load of the relay's own pages may have; 20 KiB of them are the font. */
const PAGES_LIMIT_BYTES: number = 48 * 1024
/** Requests that the first load of the relay's own pages may need. */
const PAGES_LIMIT_REQUESTS = 8
/** Bytes of gzip that the globals may have which frameworks need in a page. */
const GLOBALS_LIMIT_BYTES: number = 1.5 * 1024

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })
const chunks = weigh(await bundle(path.join(import.meta.dirname, 'size/publish-entry.ts')))
const total = sum('at once', chunks, true)
const later = sum('later', chunks, false)
const globals = sum(
  'the globals',
  weigh(await bundle(path.join(root, 'sdk-browser/src/globals/index.ts'))),
  true,
)
const firstLoad = await weighFirstLoad(path.join(root, 'relay/web/vite.config.ts'))
const pages = sum("the relay's pages, first load", firstLoad, true)
const pagesFit = pages.gzip <= PAGES_LIMIT_BYTES && firstLoad.length <= PAGES_LIMIT_REQUESTS
if (values.json) {
  const ofPages = { files: firstLoad, gzip: pages.gzip, limit: PAGES_LIMIT_BYTES }
  console.log(
    JSON.stringify({
      chunks,
      gzip: total.gzip,
      aim: AIM_BYTES,
      limit: LIMIT_BYTES,
      globals: globals.gzip,
      pages: ofPages,
    }),
  )
} else {
  print([...chunks, total, later, globals])
  printPages()
}
process.exitCode = total.gzip > LIMIT_BYTES || globals.gzip > GLOBALS_LIMIT_BYTES || !pagesFit ? 1 : 0

function sum(name: string, chunks: Weight[], eager: boolean): Weight {
  const some = chunks.filter((chunk) => chunk.eager === eager)
  const add = (key: 'raw' | 'gzip'): number => some.reduce((total, chunk) => total + chunk[key], 0)
  return { name, eager, raw: add('raw'), gzip: add('gzip') }
}

function print(rows: Weight[]): void {
  const width = Math.max(...rows.map((row) => row.name.length))
  console.log(`${''.padEnd(width)}  ${'raw'.padStart(10)}${'gzip'.padStart(10)}`)
  for (const { name, raw, gzip } of rows)
    console.log(`${name.padEnd(width)}  ${kilobytes(raw)}${kilobytes(gzip)}`)
  const verdict =
    total.gzip > LIMIT_BYTES ? 'over the limit' : total.gzip > AIM_BYTES ? 'above the aim' : 'within the aim'
  console.log(`${verdict}: aim ${kilobytes(AIM_BYTES).trim()}, limit ${kilobytes(LIMIT_BYTES).trim()}`)
}

function printPages(): void {
  const limit = `${PAGES_LIMIT_REQUESTS} requests and ${kilobytes(PAGES_LIMIT_BYTES).trim()}`
  const found = `${firstLoad.length} requests, ${kilobytes(pages.gzip).trim()} of gzip`
  console.log(`${pages.name}: ${found}, ${pagesFit ? 'within' : 'over'} the limit of ${limit}`)
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`.padStart(10)
}
