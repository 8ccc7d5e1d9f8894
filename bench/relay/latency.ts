// A round trip through a bridge, by itself and beside bulk streams.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Entry } from '../lib/entry.ts'
import type { Rank } from '../node/visitors.ts'
import type { Backend } from './backend.ts'
import { compareWithPeers, type Targets } from './compare-with-peers.ts'
import type { Bridges, RunningBridge } from './running-bridges.ts'
import { transfer } from './transfer.ts'

export interface PingJob {
  port: number
}

/** Milliseconds. */
export type PingReport = Record<Rank, number>

interface Bench {
  runs: number
  bridges: Bridges
  backend: Backend
  /** Port of one that answers. */
  service: number
}

const BULK_STREAMS = 4

export async function* latency(bench: Bench): AsyncGenerator<Entry> {
  const pinger = fork(path.join(import.meta.dirname, 'ping-process.ts'))
  const ping = (bridge: RunningBridge): Promise<PingReport> =>
    run(pinger, { port: bridge.port('tcp', bench.service) })
  yield* series(bench, 'raw bridge, round trip', {}, ping)
  yield* series(
    bench,
    `raw bridge, round trip beside ${BULK_STREAMS} bulk streams`,
    { haproxy: 1 },
    (bridge) => besideBulk(bench, bridge, () => ping(bridge)),
  )
  pinger.disconnect()
}

async function* series(
  { runs, bridges }: Bench,
  name: string,
  p99Targets: Targets,
  measure: (bridge: RunningBridge) => Promise<PingReport>,
): AsyncGenerator<Entry> {
  const figure = { name, better: 'less' } as const
  const figures = {
    p50: { ...figure, unit: 'ms, p50', targets: {} },
    p99: { ...figure, unit: 'ms, p99', targets: p99Targets },
  }
  yield* compareWithPeers({ runs, bridges, kind: 'tcp', figures, measure })
}

async function run(pinger: ChildProcess, job: PingJob): Promise<PingReport> {
  pinger.send(job)
  const [report] = await once(pinger, 'message')
  return report
}

async function besideBulk<T>(
  { bridges, backend }: Bench,
  bridge: RunningBridge,
  work: () => Promise<T>,
): Promise<T> {
  let isOver = false
  const entrance = { port: bridge.port('tcp', backend.port), ca: bridges.certificate }
  const bulk = transfer(
    { kind: 'tcp', entrance, backend, streams: BULK_STREAMS, direction: 'out' },
    () => !isOver,
  )
  const result = await work()
  isOver = true
  await bulk
  return result
}
