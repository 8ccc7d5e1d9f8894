// What a flood of registrations costs those who visit a site meanwhile.
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
/** Answers per second; a relay's own budget is 600 units a minute. */
const FLOOD_MIN = 50
/** How much the p99 may rise. */
const RISE_MAX = 1.5
/** For a flood to swell, and to ebb away. */
const SETTLE_MS = 300

/** Those that a relay has when nothing is set. */
const OWN_BUDGETS = {
  SOURCE_BUDGET_PER_MINUTE: `${SOURCE_BUDGET_PER_MINUTE}`,
  RELAY_BUDGET_PER_MINUTE: `${RELAY_BUDGET_PER_MINUTE}`,
}

export async function* flood(runs: number): AsyncGenerator<Entry> {
  yield* measure(runs, 'its own budgets', OWN_BUDGETS)
  yield* measure(runs, 'budgets lifted', {})
}

async function* measure(runs: number, budgets: string, env: Record<string, string>): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start({ env })
  const ca = await relay.ca()
  const site = await publish({
    relay: relay.url,
    name: 'visited',
    ca,
    identity: new Uint8Array(randomBytes(32)),
    fetch: () => new Response('hello'),
  })
  const flooding = fork(path.join(import.meta.dirname, 'flood-process.ts'), [relay.url, ca])
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
      const [answered] = await once(flooding, 'message')
      rates.push((answered / (performance.now() - start)) * 1000)
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
  // A flood that is none would prove nothing.
  yield limited(
    { name: `flood of registrations, ${budgets}`, unit: 'answers/s', better: 'more' },
    median(rates),
    FLOOD_MIN,
  )
  yield compared(
    {
      name: `bridged request during that flood`,
      unit: 'ms, p99',
      better: 'less',
      peer: 'without the flood',
      target: 1 / RISE_MAX,
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

/** On a kept connection; names under localhost are this machine. */
function ask(url: string, ca: string, agent: Agent): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const { hostname, host, port } = new URL(url)
  const options = { host: '127.0.0.1', port, servername: hostname, headers: { Host: host }, ca, agent }
  get(options, (response) => {
    response.on('end', resolve).on('error', reject).resume()
  }).on('error', reject)
  return promise
}
