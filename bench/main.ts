// `npm run bench -- NAME [--json] [--runs N]`: measures one family beside its peers and limits, and prints what it found.
// Progress goes to standard error, the result to standard output; the exit code only says whether it ran.
import { parseArgs } from 'node:util'
import type { Entry } from './lib/entry.ts'
import type { Family } from './lib/family.ts'
import { table } from './lib/table.ts'

const FAMILIES: Readonly<Record<string, () => Promise<Family>>> = {
  address: async () => (await import('./address/family.ts')).address,
  agent: async () => (await import('./agent/family.ts')).agent,
  cache: async () => (await import('./cache/family.ts')).cache,
  carrier: async () => (await import('./carrier/family.ts')).carrier,
  cluster: async () => (await import('./cluster/family.ts')).cluster,
  control: async () => (await import('./control/family.ts')).control,
  discovery: async () => (await import('./discovery/family.ts')).discovery,
  distance: async () => (await import('./distance/family.ts')).distance,
  dns: async () => (await import('./dns/family.ts')).dns,
  domains: async () => (await import('./domains/family.ts')).domains,
  http: async () => (await import('./http/family.ts')).http,
  inspector: async () => (await import('./inspector/family.ts')).inspector,
  node: async () => (await import('./node/family.ts')).node,
  overlay: async () => (await import('./overlay/family.ts')).overlay,
  pages: async () => (await import('./pages/family.ts')).pages,
  relay: async () => (await import('./relay/family.ts')).relay,
  rules: async () => (await import('./rules/family.ts')).rules,
  scale: async () => (await import('./scale/family.ts')).scale,
  start: async () => (await import('./start/family.ts')).start,
  tls: async () => (await import('./tls/family.ts')).tls,
  udp: async () => (await import('./udp/family.ts')).udp,
}
/** A median of fewer says little on a machine that does other things, too. */
const RUNS_MIN = 5
const RUNS_MAX = 100

const { family, json, runs } = readArguments() ?? usage()
const entries: Entry[] = []
const start = performance.now()
try {
  for await (const entry of (await FAMILIES[family]!())({ runs })) {
    entries.push(entry)
    console.error(`${elapsed().padStart(6)}  ${entry.name}`)
  }
} finally {
  // the results before a failure are worth having, too
  console.log(json ? JSON.stringify(entries, null, 2) : table(entries))
}
console.error(`\n${family}: ${runs} runs each, ${elapsed()}`)
process.exit(0)

function elapsed(): string {
  return `${((performance.now() - start) / 1000).toFixed(0)} s`
}

function readArguments(): { family: string; json: boolean; runs: number } | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        runs: { type: 'string', default: String(RUNS_MIN) },
      },
    })
    const [family = '', ...rest] = positionals
    const runs = Number(values.runs)
    const valid = Number.isInteger(runs) && runs >= RUNS_MIN && runs <= RUNS_MAX
    return Object.hasOwn(FAMILIES, family) && rest.length === 0 && valid
      ? { family, json: values.json, runs }
      : undefined
  } catch {
    return undefined
  }
}

function usage(): never {
  console.error('Usage: npm run bench -- NAME [--json] [--runs N]')
  console.error(`NAME is one of ${Object.keys(FAMILIES).join(', ')}; N from ${RUNS_MIN} to ${RUNS_MAX}`)
  process.exit(2)
}
