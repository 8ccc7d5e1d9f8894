// Feeds one parser, or all of them in turn, random input for a while: `npm run fuzz -- TARGET|all SECONDS [--seed N]`. The seed repeats
// a run.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

/** Each module exports `fuzz(goesOn, seed)` and throws, or rejects, on the first finding. */
const TARGETS: Record<string, string> = {
  control: '../relay/test/model/fuzz.ts',
  machines: '../relay/test/fuzz/machines.ts',
  api: '../relay/test/fuzz/api.ts',
  pages: '../relay/test/fuzz/pages.ts',
  dns: '../dns/test/fuzz/dns.ts',
  uploads: '../relay/test/fuzz/uploads.ts',
  payments: '../payment/test/fuzz/fuzz.ts',
  tls: '../tls/test/fuzz/fuzz.ts',
  yamux: '../yamux/test/fuzz/fuzz.ts',
  files: '../sdk-node/test/folder/fuzz.ts',
  http: '../sdk-core/test/http1/fuzz.ts',
  http2: '../sdk-core/test/http2/fuzz.ts',
  websocket: '../sdk-core/test/websocket/fuzz.ts',
}
/** In place of a target, it means each of them in turn. */
const ALL = 'all'
const SECONDS_MAX = 24 * 60 * 60
const SEED_MAX: number = 2 ** 32

interface FuzzTarget {
  /** @param goesOn is asked again and again, with the number of runs that were made */
  fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }>
}

const { target: chosen, seconds, seed } = readArguments() ?? usage()
for (const target of chosen === ALL ? Object.keys(TARGETS) : [chosen]) {
  console.log(`Fuzzing ${target} for ${seconds} s with seed ${seed}`)
  try {
    const module: FuzzTarget = await import(TARGETS[target]!)
    const end = performance.now() + seconds * 1000
    // A relay may take longer to start than the time that was given.
    const { runs } = await module.fuzz((runs) => runs === 0 || performance.now() < end, seed)
    console.log(`${runs} runs, nothing found`)
  } catch (error) {
    console.error(error)
    console.error(`✗ Found something. To repeat it: npm run fuzz -- ${target} ${seconds}s --seed ${seed}`)
    process.exitCode = 1
  }
}

function readArguments(): { target: string; seconds: number; seed: number } | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { seed: { type: 'string' } },
    })
    const [target = '', duration = '', ...rest] = positionals
    const seconds = Number(/^(\d+)s?$/.exec(duration)?.[1])
    const seed = values.seed === undefined ? randomInt(SEED_MAX) : Number(values.seed)
    const isSeed = Number.isInteger(seed) && seed >= 0 && seed < SEED_MAX
    const isTime = seconds >= 1 && seconds <= SECONDS_MAX
    const isTarget = target === ALL || Object.hasOwn(TARGETS, target)
    return isTarget && isTime && isSeed && rest.length === 0 ? { target, seconds, seed } : undefined
  } catch {
    return undefined
  }
}

function usage(): never {
  console.error('Usage: npm run fuzz -- TARGET SECONDS [--seed N]')
  console.error(
    `TARGET is one of ${Object.keys(TARGETS).join(', ')}, or ${ALL}; SECONDS such as 60 or 60s; N below 2^32`,
  )
  process.exit(2)
}
