// Sites per second that one process publishes, and what each costs that process and the relay.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { BenchRelay } from '../carrier/relay.ts'
import { median } from '../lib/alternate.ts'
import { type Entry, limited } from '../lib/entry.ts'
import { processorSeconds } from '../node/processes.ts'
import type { Published } from './sites-process.ts'

const SITES = 500
const PER_SECOND_MIN = 300
/** With both, two processes on two cores reach that rate. */
const CPU_MAX_MS: number = 1000 / PER_SECOND_MIN

export async function* sites(runs: number): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start()
  const ca = await relay.ca()
  const found: { perSecond: number; publisherMs: number; relayMs: number }[] = []
  const publishAll = async (): Promise<void> => {
    const child = fork(path.join(import.meta.dirname, 'sites-process.ts'), [relay.url, ca])
    await once(child, 'spawn')
    const before = processorSeconds([relay.pid])
    child.send(SITES)
    const ended = once(child, 'exit').then(() => {
      throw new Error('the process ended early')
    })
    const [{ seconds, cpuSeconds }] = (await Promise.race([once(child, 'message'), ended])) as [Published]
    ended.catch(() => {})
    const relayMs = ((processorSeconds([relay.pid]) - before) * 1000) / SITES
    found.push({ perSecond: SITES / seconds, publisherMs: (cpuSeconds * 1000) / SITES, relayMs })
    child.disconnect()
    await once(child, 'exit')
  }
  // The first time warms up caches and compilers of the relay.
  for (let run = 0; run <= runs; run++) await publishAll()
  await relay.stop()
  const of = (figure: keyof (typeof found)[number]): number =>
    median(found.slice(1).map((one) => one[figure]))
  const name = `publishing ${SITES} sites in one process`
  yield limited({ name, unit: 'per s', better: 'more' }, of('perSecond'), PER_SECOND_MIN)
  const cost = { unit: 'CPU ms each', better: 'less' } as const
  yield limited({ ...cost, name: `${name}: the process` }, of('publisherMs'), CPU_MAX_MS)
  yield limited({ ...cost, name: `${name}: the relay` }, of('relayMs'), CPU_MAX_MS)
}
