// A relay of two processes beside one of one: both whole, with `svc`, on all cores of the machine.
import { alternateAll } from '../lib/alternate.ts'
import { compared, type Entry } from '../lib/entry.ts'
import { processorSeconds } from '../node/processes.ts'
import { type OwnTunnel, startOwn } from '../node/tunnels.ts'
import { download, visitorsPerSecond } from '../node/visitors.ts'
import { startService } from './service.ts'

interface Figures {
  speed: number
  cost: number
  rate: number
  costEach: number
}

const STREAMS = 16
const TRANSFER_BYTES = 200_000_000
const AT_ONCE = 16
const SECONDS = 0.5
const TARGET = 1.6
/** With this the same work may cost so much more, and the target is in reach on a machine that has nothing else to do. */
const COST_TARGET: number = TARGET / 2

export async function* workers(runs: number): AsyncGenerator<Entry> {
  const service = await startService()
  const start = (count: number): Promise<OwnTunnel> =>
    startOwn(['--tcp', `127.0.0.1:${service.tcp}`], { SVC_WORKERS: `${count}` })
  const [one, two] = [await start(1), await start(2)]
  const found = await alternateAll<'one' | 'two', keyof Figures>(runs, {
    one: () => measure(one),
    two: () => measure(two),
  })
  for (const { stop } of [one, two]) await stop()
  service.stop()
  const question = { peer: 'one worker', better: 'less' } as const
  const bulk = `two workers, download, ${STREAMS} streams`
  const visitors = 'two workers, visitors who ask once'
  const more = { ...question, better: 'more', target: TARGET } as const
  const less = { ...question, target: COST_TARGET } as const
  yield compared({ ...more, name: bulk, unit: 'GB/s' }, found.two.speed, found.one.speed)
  yield compared({ ...less, name: bulk, unit: 'CPU s per GB' }, found.two.cost, found.one.cost)
  yield compared({ ...more, name: visitors, unit: 'per s' }, found.two.rate, found.one.rate)
  yield compared({ ...less, name: visitors, unit: 'CPU ms each' }, found.two.costEach, found.one.costEach)
}

/** Processor time is the relay's, all its processes together. */
async function measure({ port, relayPid }: OwnTunnel): Promise<Record<keyof Figures, number>> {
  const spent = (): number => processorSeconds([relayPid])
  const before = spent()
  const megabytesPerSecond = await download({ port }, TRANSFER_BYTES, STREAMS)
  const between = spent()
  const rate = await visitorsPerSecond({ port }, AT_ONCE, SECONDS)
  return {
    speed: megabytesPerSecond / 1000,
    cost: (between - before) / (TRANSFER_BYTES / 1e9),
    rate,
    costEach: ((spent() - between) * 1000) / (rate * SECONDS),
  }
}
