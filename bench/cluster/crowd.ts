// Three machines with 100,000 leases: what each lease takes of their memory, how long a machine takes to start, and to hear of one more.
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Machine } from '../../tools/relay/machine.ts'
import { type Machines, startMachines } from '../../tools/relay/machines.ts'
import { wallSeconds } from '../lib/clock.ts'
import { compared, type Entry, limited } from '../lib/entry.ts'
import { processorSeconds } from '../node/processes.ts'
import { ranked } from '../node/visitors.ts'
import type { CrowdFigures } from './crowd-probe.ts'
import { RedisLeases } from './redis-leases.ts'

const LEASES = 100_000
const MACHINES = 3
/** Registrations that are timed, one after the other. */
const TIMED = 500
/** As a lease may have at a relay of one machine, in the family `control`. */
const LEASE_MAX_KB = 4
/** At this cost the renewals of 100,000 leases, each minute, are a sixth of a core. */
const FOLLOWED_MAX_US = 100
const START_MAX_S = 10
const HEARD_MAX_MS = { p50: 10, p99: 100 }
const PROBED = ['--expose-gc', '--import', path.join(import.meta.dirname, 'crowd-probe.ts')]
const STARTS = 5
const SETTLE_MS = 2_000
const LOOK_MS = 20
const PAUSE_MS = 5
const WAIT_MAX_MS = 120_000

export async function* crowd(): AsyncGenerator<Entry> {
  const all = await startMachines({ count: MACHINES, execArgv: PROBED })
  try {
    yield* measure(all)
  } finally {
    await all.stop()
  }
}

async function* measure(all: Machines): AsyncGenerator<Entry> {
  const { machines } = all
  const last = machines.at(-1)!
  const emptyStart = await startOf(last)
  const empty = await figuresOfAll(machines)
  const leases = await RedisLeases.of(all)
  const emptyRedis = await redisOf(all)
  const spent = (): number[] => machines.map(({ pid }) => processorSeconds([pid!]))
  const before = spent()
  const seconds = await wallSeconds(async () => {
    await leases.register('site', LEASES)
    for (const machine of machines) await follows(machine, LEASES)
  })
  const rate = {
    name: `${LEASES} registrations in Redis, followed by ${MACHINES} machines`,
    unit: 'per s',
  }
  yield limited({ ...rate, better: 'more' }, LEASES / seconds, 1_000)
  const computed = spent().map((after, index) => ((after - before[index]!) * 1e6) / LEASES)
  const following = { name: 'following one registration, at each machine', unit: 'CPU µs' }
  yield limited({ ...following, better: 'less' }, Math.max(...computed), FOLLOWED_MAX_US)
  const fullRedis = await redisOf(all)
  const redisUs = ((fullRedis.seconds - emptyRedis.seconds) * 1e6) / LEASES
  const written = { name: `one registration in Redis, ${MACHINES} machines follow`, unit: 'CPU µs' }
  yield limited({ ...written, better: 'less' }, redisUs, FOLLOWED_MAX_US)
  const inRedis = (fullRedis.bytes - emptyRedis.bytes) / LEASES / 1024
  const kept = { name: `memory of a lease in Redis, of ${LEASES}`, unit: 'KB' }
  yield limited({ ...kept, better: 'less' }, inRedis, LEASE_MAX_KB)
  const full = await figuresOfAll(machines)
  const grown = machines.map((_, index) => grownKb(empty[index]!, full[index]!) / LEASES)
  const memory = {
    name: `memory of a lease at each machine, of ${LEASES}`,
    unit: 'KB',
    better: 'less',
  } as const
  yield limited(memory, Math.max(...grown), LEASE_MAX_KB)
  yield* heard(machines, leases)
  const fullStart = await startOf(last)
  const question = {
    name: `start of a machine with ${LEASES} leases, until it listens`,
    unit: 's',
    better: 'less',
  } as const
  yield limited(question, fullStart, START_MAX_S)
  yield compared({ ...question, peer: 'without leases', target: null }, fullStart, emptyStart)
  const loaded = grownKb(empty.at(-1)!, await figuresOf(last)) / LEASES
  yield limited({ ...memory, name: `${memory.name}, after a start` }, loaded, LEASE_MAX_KB)
  await leases.close()
}

/** Times from the moment at which a lease is sent to Redis until the last machine has it. */
async function* heard(machines: readonly Machine[], leases: RedisLeases): AsyncGenerator<Entry> {
  const sentAt = new Map<string, number>()
  for (let number = 0; number < TIMED; number++) {
    const name = `timed-${number}`
    sentAt.set(name, performance.timeOrigin + performance.now())
    await leases.registerOne(name)
    await pause(PAUSE_MS)
  }
  for (const machine of machines) await follows(machine, LEASES + TIMED)
  const figures = await figuresOfAll(machines)
  const waits = [...sentAt].map(([name, at]) =>
    Math.max(...figures.map(({ heardAt }) => heardAt[name]! - at)),
  )
  for (const rank of ['p50', 'p99'] as const) {
    const question = { name: `all ${MACHINES} machines know a registration`, unit: `ms, ${rank}` }
    yield limited({ ...question, better: 'less' }, ranked(waits, rank), HEARD_MAX_MS[rank])
  }
}

/** @returns bytes that Redis has in use, and seconds of processor time since its start */
async function redisOf({ redis }: Machines): Promise<{ bytes: number; seconds: number }> {
  const text = await redis.cli('INFO')
  const figure = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)![1])
  return { bytes: figure('used_memory'), seconds: figure('used_cpu_user') + figure('used_cpu_sys') }
}

/** @returns the median of the seconds from the start of the process until it listens */
async function startOf(machine: Machine): Promise<number> {
  const times: number[] = []
  for (let start = 0; start < STARTS; start++) {
    await machine.kill()
    times.push((await wallSeconds(() => machine.restart())) * 1000)
  }
  return ranked(times, 'p50') / 1000
}

async function follows(machine: Machine, count: number): Promise<void> {
  const until = performance.now() + WAIT_MAX_MS
  while (
    ((machine.log.findLast(({ followed }) => followed !== undefined)?.followed ?? 0) as number) < count
  ) {
    if (performance.now() > until) throw new Error(`${machine.name} does not follow`)
    await pause(LOOK_MS)
  }
}

async function figuresOfAll(machines: readonly Machine[]): Promise<CrowdFigures[]> {
  const figures: CrowdFigures[] = []
  for (const machine of machines) figures.push(await figuresOf(machine))
  return figures
}

/** The figures once what was done last has come to rest. */
async function figuresOf(machine: Machine): Promise<CrowdFigures> {
  await pause(SETTLE_MS)
  return await askFigures(machine)
}

async function askFigures(machine: Machine): Promise<CrowdFigures> {
  const { length } = machine.log
  process.kill(machine.pid!, 'SIGUSR2')
  for (;;) {
    const line = machine.log.slice(length).find(({ crowd }) => crowd !== undefined)
    if (line !== undefined) return line.crowd as CrowdFigures
    await pause(LOOK_MS)
  }
}

/** The process may grow into what it had, and its heap knows nothing of other memory: whichever grew more. */
function grownKb(before: CrowdFigures, after: CrowdFigures): number {
  return Math.max(after.rss - before.rss, after.heap - before.heap) / 1024
}
