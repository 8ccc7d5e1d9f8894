// A TCP service at a port of its own: throughput, answers, visitors, latency and memory.
import { setTimeout as pause } from 'node:timers/promises'
import { alternate } from '../lib/alternate.ts'
import { compared, type Entry, type Question } from '../lib/entry.ts'
import { memoryMb } from './processes.ts'
import { type OwnTunnel, type RunningPeer, startOwn, startPeers } from './tunnels.ts'
import {
  answersPerSecond,
  crowd,
  download,
  type Entrance,
  roundTrip,
  upload,
  visitorsPerSecond,
} from './visitors.ts'
import type { Service } from './work.ts'

const TRANSFER_BYTES = 100_000_000
const STREAMS = [1, 32]
const CALLERS = 32
/** Visitors at once, each with one question: `ssh -R` delays each by some 20 ms, so that few at once measure only that. */
const COMING_AT_ONCE = [8, 64]
const SECONDS = 1
const ROUND_TRIPS = 1000
const CROWD = 200
/** Milliseconds in which a process that was just started or used comes to rest. */
const REST_MS = 1000
/** The latency that a tunnel adds is not measured finer than this, in milliseconds. */
const LEAST_MS = 0.001

interface Bench {
  runs: number
  ours: OwnTunnel
  peers: RunningPeer[]
  /** The service itself. */
  direct: Entrance
}

type Metric = Omit<Question, 'peer' | 'target'>

export async function* tcpPort(service: Service, runs: number): AsyncGenerator<Entry> {
  const ours = await startOwn(['--tcp', `127.0.0.1:${service.tcp}`])
  const peers = await startPeers(service.tcp)
  const bench = { runs, ours, peers, direct: { port: service.tcp } }
  yield* memory(bench, 'idle')
  yield* speeds(bench)
  yield* addedLatency(bench)
  yield* memory(bench, `with ${CROWD} visitors, after all that`)
  for (const { stop } of [ours, ...peers]) await stop()
}

async function* speeds(bench: Bench): AsyncGenerator<Entry> {
  const throughput = { unit: 'MB/s', better: 'more' } as const
  for (const streams of STREAMS) {
    const over = streams === 1 ? '1 stream' : `${streams} streams`
    yield* besideAll(bench, { ...throughput, name: `download, ${over}` }, (entrance) =>
      download(entrance, TRANSFER_BYTES, streams),
    )
    yield* besideAll(bench, { ...throughput, name: `upload, ${over}` }, (entrance) =>
      upload(entrance, TRANSFER_BYTES, streams),
    )
  }
  const answers: Metric = { name: `answers, ${CALLERS} connections`, unit: 'per s', better: 'more' }
  yield* besideAll(bench, answers, (entrance) => answersPerSecond(entrance, CALLERS, SECONDS))
  for (const atOnce of COMING_AT_ONCE) {
    const visitors: Metric = {
      name: `visitors who ask once, ${atOnce} at once`,
      unit: 'per s',
      better: 'more',
    }
    yield* besideAll(bench, visitors, (entrance) => visitorsPerSecond(entrance, atOnce, SECONDS))
  }
}

async function* besideAll(
  bench: Bench,
  metric: Metric,
  measure: (entrance: Entrance) => Promise<number>,
): AsyncGenerator<Entry> {
  const values = await measureAll(bench, measure)
  yield compared({ ...metric, peer: 'no tunnel', target: null }, values.ours!, values.direct!)
  for (const { peer } of bench.peers)
    yield compared({ ...metric, peer: peer.name, target: peer.target }, values.ours!, values[peer.name]!)
}

async function* addedLatency(bench: Bench): AsyncGenerator<Entry> {
  for (const rank of ['p50', 'p99'] as const) {
    const values = await measureAll(bench, (entrance) => roundTrip(entrance, ROUND_TRIPS, rank))
    const added = (name: string): number => Math.max(values[name]! - values.direct!, LEAST_MS)
    const metric: Metric = { name: 'added to a round trip', unit: `ms, ${rank}`, better: 'less' }
    for (const { peer } of bench.peers)
      yield compared({ ...metric, peer: peer.name, target: peer.target }, added('ours'), added(peer.name))
  }
}

function measureAll(
  { runs, ours, peers, direct }: Bench,
  measure: (entrance: Entrance) => Promise<number>,
): Promise<Record<string, number>> {
  const entrances: [string, Entrance][] = [
    ['ours', ours],
    ['direct', direct],
    ...peers.map((running): [string, Entrance] => [running.peer.name, running]),
  ]
  return alternate(
    runs,
    Object.fromEntries(entrances.map(([name, { port }]) => [name, () => measure({ port })])),
  )
}

async function* memory({ ours, peers }: Bench, when: string): AsyncGenerator<Entry> {
  const weigh = async ({ port, pids }: Pick<RunningPeer, 'port' | 'pids'>): Promise<number> => {
    const leave = when === 'idle' ? () => {} : await crowd({ port }, CROWD)
    await pause(REST_MS)
    const megabytes = memoryMb(pids)
    leave()
    return megabytes
  }
  const own = await weigh(ours)
  for (const running of peers) {
    const { name, target } = running.peer
    const question = { name: `memory of both ends, ${when}`, unit: 'MB', better: 'less' } as const
    yield compared({ ...question, peer: name, target }, own, await weigh(running))
  }
}
