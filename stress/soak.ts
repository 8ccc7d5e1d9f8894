// Visitors, faults and time: `npm run soak [-- [machines] MINUTES] [--seed N] [--slice]`, 30 minutes by default, a slice half of one. A real relay
// in a process of its own, a real site in this one, and a network between them that fails. Every body is checked by its SHA-256. With `machines` the
// relay is three machines that die and come back.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { startFaultyRelay } from '../tools/relay/faulty-relay.ts'
import { publishNode } from '../tools/site/node-site.ts'
import { Faults } from './soak/faults.ts'
import { soakMachines } from './soak/machines/run.ts'
import { Memory } from './soak/memory.ts'
import { randomOf } from './soak/random.ts'
import { Visitors } from './soak/visitors.ts'

const MACHINES = 'machines'
const MINUTES_DEFAULT = 30
const MINUTES_OF_A_SLICE = 0.5
const MINUTES_MAX: number = 24 * 60
const SEED_MAX: number = 2 ** 32
const REPORT_MS = 10_000
const VISITORS = 6
/** After the last fault everything is to be as before within this: silence takes 16 s to notice, and a busy machine longer. */
const RECOVERY_MS = 120_000

const { target, minutes, seed } = readArguments() ?? usage()
console.log(`Soaking for ${minutes} min with seed ${seed}`)
const random = randomOf(seed)
if (target === MACHINES) end(await soakMachines(minutes, random))
const relay = await startFaultyRelay()
const site = await publishNode(relay, 'soak', {
  fetch: (request) => new Response(request.method === 'POST' ? request.body : 'hello'),
})
const faults: Faults = new Faults(relay, random, () => visitors.isServed())
const visitors: Visitors = new Visitors(site, relay, faults, random)
const memory = new Memory(relay)
const until = Date.now() + minutes * 60_000
const report = setInterval(() => void tell(), REPORT_MS)
const problems: string[] = []

try {
  await Promise.all([faults.run(until), ...Array.from({ length: VISITORS }, () => visitors.run(until))])
  await recover()
} catch (error) {
  problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
}
clearInterval(report)
await tell()
problems.push(...memory.verdict())
await site.close()
await relay.stop()
end(problems)

/** Waits, when the network is whole, until the site serves, and no stream of before is left. */
async function recover(): Promise<void> {
  const deadline = Date.now() + RECOVERY_MS
  for (;;) {
    const { openStreams, readyStreams, webSockets } = site.stats()
    const isCalm = site.state === 'online' && openStreams === 0 && readyStreams >= 2 && webSockets >= 1
    if (isCalm) return visitors.visitOnce()
    if (Date.now() > deadline) throw new Error(`not calm after the end: ${JSON.stringify(site.stats())}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function tell(): Promise<void> {
  const { reconnects, openStreams, webSockets } = site.stats()
  console.log(
    `${visitors.served} served, ${visitors.interrupted} interrupted by ${faults.count} faults, ` +
      `${reconnects} reconnects, ${openStreams} streams on ${webSockets} WebSockets; ${await memory.sample()}`,
  )
}

function end(problems: readonly string[]): never {
  for (const problem of problems) console.error(problem)
  const again = ['npm run soak --', ...(target === undefined ? [] : [target]), minutes, '--seed', seed]
  console.log(problems.length === 0 ? 'Nothing found' : `To repeat it: ${again.join(' ')}`)
  process.exit(problems.length === 0 ? 0 : 1)
}

function readArguments(): { target: typeof MACHINES | undefined; minutes: number; seed: number } | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { seed: { type: 'string' }, slice: { type: 'boolean', default: false } },
    })
    const isSlice = values.slice
    const target = positionals[0] === MACHINES ? MACHINES : undefined
    const numbers = positionals.slice(target === undefined ? 0 : 1).map(Number)
    const [minutes = isSlice ? MINUTES_OF_A_SLICE : MINUTES_DEFAULT, ...rest] = numbers
    const seed = values.seed === undefined ? randomInt(SEED_MAX) : Number(values.seed)
    const isTime = minutes > 0 && minutes <= MINUTES_MAX
    const isSeed = Number.isInteger(seed) && seed >= 0 && seed < SEED_MAX
    return isTime && isSeed && rest.length === 0 ? { target, minutes, seed } : undefined
  } catch {
    return undefined
  }
}

function usage(): never {
  console.error(
    `Usage: npm run soak [-- [${MACHINES}] MINUTES] [--seed N] [--slice]; MINUTES up to ${MINUTES_MAX}, N below 2^32`,
  )
  process.exit(2)
}
