// Attacks on a real relay beside honest visitors: `npm run attack [-- NAME…] [--slice] [--seed N]`, by default all of them,
// each for as long as it needs; a slice takes a few seconds of some. It ends well when no honest visitor noticed anything and
// the relay is the process that it was.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { attack as abortedClients } from './attack/aborted-clients.ts'
import type { Attack, ClientAttack, ConditionAttack, Outcome } from './attack/attack.ts'
import { attack as cheatingRelay } from './attack/cheating-relay.ts'
import { attack as clockSteps } from './attack/clock-steps.ts'
import { attack as closingBackends } from './attack/closing-backends.ts'
import { attack as fewDescriptors } from './attack/few-descriptors.ts'
import { attack as fullDisk } from './attack/full-disk.ts'
import { attack as hoardedConnections } from './attack/hoarded-connections.ts'
import { stopControl } from './attack/impact.ts'
import { attack as kills } from './attack/kills.ts'
import { attack as leavingVisitors } from './attack/leaving-visitors.ts'
import { attack as manySnapshots } from './attack/many-snapshots.ts'
import { attack as manyWebSockets } from './attack/many-websockets.ts'
import { attack as portImpostor } from './attack/port-impostor.ts'
import { attack as randomBytes } from './attack/random-bytes.ts'
import { attack as redisWriter } from './attack/redis-writer.ts'
import { attack as rejectedStreams } from './attack/rejected-streams.ts'
import { RelayUnderAttack } from './attack/relay-under-attack.ts'
import { type Quiet, quiet, runByClients } from './attack/run-by-clients.ts'
import { attack as slowClients } from './attack/slow-clients.ts'
import { attack as unfinishedRequests } from './attack/unfinished-requests.ts'
import { attack as unpaid } from './attack/unpaid.ts'
import { attack as unreadAnswers } from './attack/unread-answers.ts'

/** The attacks by the name of their file. */
const ATTACKS: Readonly<Record<string, Attack>> = {
  'aborted-clients': abortedClients,
  'unread-answers': unreadAnswers,
  'unfinished-requests': unfinishedRequests,
  'slow-clients': slowClients,
  'random-bytes': randomBytes,
  'rejected-streams': rejectedStreams,
  'many-websockets': manyWebSockets,
  'many-snapshots': manySnapshots,
  'leaving-visitors': leavingVisitors,
  'closing-backends': closingBackends,
  unpaid,
  'port-impostor': portImpostor,
  'hoarded-connections': hoardedConnections,
  kills,
  'clock-steps': clockSteps,
  'full-disk': fullDisk,
  'few-descriptors': fewDescriptors,
  'cheating-relay': cheatingRelay,
  'redis-writer': redisWriter,
}
/** Seconds for which honest visitors are watched before an attack; before a slice they come once. */
const QUIET_S = 8
const SEED_MAX: number = 2 ** 32

const { names, isSlice, seed } = readArguments() ?? usage()
if (process.platform !== 'linux') {
  console.log('Skipped: what the relay uses is read from /proc, which only Linux has')
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
console.log(`Attacking with seed ${seed}`)
const begin = performance.now()
const failed: string[] = []
await (isSlice ? runSlices() : runWhole())
await stopControl()
const seconds = ((performance.now() - begin) / 1000).toFixed(0)
if (failed.length > 0) console.error(`\nTo repeat: npm run attack -- ${failed.join(' ')} --seed ${seed}`)
console.log(
  failed.length === 0
    ? `\nHonest visitors noticed nothing, in ${seconds} s`
    : `\n✗ Attacks succeeded: ${failed.join(', ')}`,
)
process.exit(failed.length === 0 ? 0 : 1)

/** Runs the attacks one after the other, each on a relay of its own. */
async function runWhole(): Promise<void> {
  for (const name of names) {
    const attack = ATTACKS[name]!
    await report(name, attack.by === 'clients' ? runAlone(name, attack) : inConditions(attack))
  }
}

async function runAlone(name: string, attack: ClientAttack): Promise<Outcome> {
  const relay = await RelayUnderAttack.start({ isSlice })
  try {
    return await runByClients(name, attack, relay, await quiet(relay, QUIET_S), { isSlice, seed })
  } finally {
    await relay.stop()
  }
}

/** Runs the attacks by clients on one relay, and beside them those on what a relay runs on, which wait for most of their time. */
async function runSlices(): Promise<void> {
  const clients: [string, ClientAttack][] = []
  const conditions: [string, ConditionAttack][] = []
  for (const name of names) {
    const attack = ATTACKS[name]!
    if (attack.by === 'clients') clients.push([name, attack])
    else conditions.push([name, attack])
  }
  const runConditions = async (): Promise<void> => {
    for (const [name, attack] of conditions) await report(name, inConditions(attack))
  }
  await Promise.all([runConditions(), runOnOneRelay(clients)])
}

/** Runs slices one after the other. */
async function runOnOneRelay(attacks: readonly [string, ClientAttack][]): Promise<void> {
  let current: { relay: RelayUnderAttack; before: Quiet } | undefined
  const run = async (name: string, attack: ClientAttack): Promise<Outcome> => {
    if (current === undefined) {
      const relay = await RelayUnderAttack.start({ isSlice })
      current = { relay, before: await quiet(relay, 0) }
    }
    return await runByClients(name, attack, current.relay, current.before, { isSlice, seed })
  }
  for (const [name, attack] of attacks) {
    await report(name, run(name, attack))
    if (!failed.includes(name)) continue
    // a relay that an attack overcame says nothing about the next attack
    await current?.relay.stop()
    current = undefined
  }
  await current?.relay.stop()
}

function inConditions(attack: ConditionAttack): Promise<Outcome> {
  return attack.run({ seconds: isSlice ? attack.sliceSeconds : attack.seconds, isSlice, seed })
}

async function report(name: string, running: Promise<Outcome>): Promise<void> {
  const from = performance.now()
  const { lines, problems, skipped } = await running.catch(
    (error): Outcome => ({
      lines: [],
      problems: [error instanceof Error ? `${error.stack}` : String(error)],
    }),
  )
  const { what } = ATTACKS[name]!
  const sign = problems.length > 0 ? '✗' : skipped === undefined ? '✓' : '-'
  const took = ((performance.now() - from) / 1000).toFixed(1)
  console.log(`\n${sign} ${name}: ${what} (${took} s)`)
  for (const line of lines) console.log(`    ${line}`)
  if (skipped !== undefined) console.log(`    skipped: ${skipped}`)
  for (const problem of problems) console.log(`  ✗ ${problem}`)
  if (problems.length > 0) failed.push(name)
}

function readArguments(): { names: readonly string[]; isSlice: boolean; seed: number } | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { seed: { type: 'string' }, slice: { type: 'boolean', default: false } },
    })
    const seed = values.seed === undefined ? randomInt(SEED_MAX) : Number(values.seed)
    const isSeed = Number.isInteger(seed) && seed >= 0 && seed < SEED_MAX
    const names = positionals.length === 0 ? Object.keys(ATTACKS) : positionals
    const isKnown = names.every((name) => Object.hasOwn(ATTACKS, name))
    return isSeed && isKnown ? { names, isSlice: values.slice, seed } : undefined
  } catch {
    return undefined
  }
}

function usage(): never {
  console.error('Usage: npm run attack [-- NAME…] [--slice] [--seed N]; N below 2^32')
  console.error(`NAME is one of ${Object.keys(ATTACKS).join(', ')}`)
  process.exit(2)
}
