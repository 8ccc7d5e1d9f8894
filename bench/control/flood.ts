// Measures what a flood costs the visitors of a site meanwhile: one of registrations, one of connections that send nothing.
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, get } from 'node:https'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { RELAY_BUDGET_PER_MINUTE, SOURCE_BUDGET_PER_MINUTE } from '@svc/protocol'
import { publish } from '@svc/sdk-node'
import { BenchRelay } from '../carrier/relay.ts'
import { alternate, median } from '../lib/alternate.ts'
import { compared, type Entry, limited } from '../lib/entry.ts'

const REQUESTS = 500
/** Below these, in a second, it was no flood; a relay's own rate limit for registrations is 600 units a minute. */
const REGISTRATIONS_MIN = 50
const CONNECTIONS_MIN = 1000
/** Milliseconds for a flood to begin fully, and to end. */
const SETTLE_MS = 300

/** The rate limits that a relay has when nothing is set. */
const OWN_BUDGETS = {
  SOURCE_BUDGET_PER_MINUTE: `${SOURCE_BUDGET_PER_MINUTE}`,
  RELAY_BUDGET_PER_MINUTE: `${RELAY_BUDGET_PER_MINUTE}`,
}

interface Flood {
  name: string
  unit: string
  /** The flood's program in this folder. */
  process: string
  min: number
  /** The factor by which the p99 may rise. */
  riseMax: number
  /** Settings of the relay. */
  env?: Record<string, string>
}

const REGISTRATIONS = { process: 'flood-process.ts', unit: 'answers/s', min: REGISTRATIONS_MIN, riseMax: 1.5 }
const FLOODS: readonly Flood[] = [
  { ...REGISTRATIONS, name: 'flood of registrations, its own budgets', env: OWN_BUDGETS },
  { ...REGISTRATIONS, name: 'flood of registrations, budgets lifted' },
  {
    name: 'flood of silent connections',
    process: 'silent-process.ts',
    unit: 'connections/s',
    min: CONNECTIONS_MIN,
    riseMax: 2,
  },
]

export async function* flood(runs: number): AsyncGenerator<Entry> {
  for (const one of FLOODS) yield* measure(runs, one)
}

async function* measure(
  runs: number,
  { name, unit, process, min, riseMax, env = {} }: Flood,
): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start({ env })
  const ca = await relay.ca()
  const site = await publish({
    relay: relay.url,
    name: 'visited',
    ca,
    identity: new Uint8Array(randomBytes(32)),
    fetch: () => new Response('hello'),
  })
  const flooding = fork(path.join(import.meta.dirname, process), [relay.url, ca])
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const visit = (): Promise<number> => p99(() => ask(site.url, ca, agent))
  const rates: number[] = []
  const { ours, theirs } = await alternate(runs, {
    ours: async () => {
      const start = performance.now()
      flooding.send('begin')
      await pause(SETTLE_MS)
      const measured = await visit()
      flooding.send('pause')
      const [count] = await once(flooding, 'message')
      rates.push((count / (performance.now() - start)) * 1000)
      await pause(SETTLE_MS)
      return measured
    },
    theirs: visit,
  })
  flooding.disconnect()
  await once(flooding, 'exit')
  agent.destroy()
  await site.close()
  await relay.stop()
  // A flood that did not happen would prove nothing.
  yield limited({ name, unit, better: 'more' }, median(rates), min)
  yield compared(
    {
      name: `bridged request during that flood`,
      unit: 'ms, p99',
      better: 'less',
      peer: 'without the flood',
      target: 1 / riseMax,
    },
    ours,
    theirs,
  )
}

async function p99(work: () => Promise<void>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < REQUESTS; i++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(REQUESTS * 0.99)]!
}

/** Asks on a kept connection; names under localhost are this machine. */
function ask(url: string, ca: string, agent: Agent): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const { hostname, host, port } = new URL(url)
  const options = { host: '127.0.0.1', port, servername: hostname, headers: { Host: host }, ca, agent }
  get(options, (response) => {
    response.on('end', resolve).on('error', reject).resume()
  }).on('error', reject)
  return promise
}
