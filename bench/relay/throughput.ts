// Measures what a bridge moves, and what it computes for that: streams of each kind, loaded in each direction.
import type { Entry } from '../lib/entry.ts'
import type { Backend } from './backend.ts'
import { compareWithPeers, type Targets } from './compare-with-peers.ts'
import type { Kind } from './forward.ts'
import type { Bridges } from './running-bridges.ts'
import { checkIntegrity, type Direction, transfer } from './transfer.ts'

interface Series {
  kind: Kind
  name: string
  streams: readonly number[]
  directions: Record<Direction, string>
  targets: Targets
}

interface Bench {
  runs: number
  bridges: Bridges
  backend: Backend
}

const TRANSFER_MS = 400
const GB = 1e9

const SERIES: readonly Series[] = [
  {
    kind: 'tcp',
    name: 'raw bridge',
    streams: [1, 16, 100],
    directions: { in: 'to the service', out: 'to the visitor' },
    targets: { haproxy: 1.2, Go: 0.75 },
  },
  {
    kind: 'tls',
    name: 'hijacked TLS',
    streams: [4],
    // TLS is towards the site: what comes out of it is for the visitor
    directions: { in: 'decrypting', out: 'encrypting' },
    targets: { haproxy: 1.2, Go: 1.2 },
  },
  {
    kind: 'carrier',
    name: 'yamux over WebSocket over TLS',
    streams: [1, 16],
    directions: { in: 'from the site', out: 'to the site' },
    targets: { 'Go, hashicorp/yamux': 1 },
  },
]

export async function* throughput(bench: Bench): AsyncGenerator<Entry> {
  for (const series of SERIES)
    for (const streams of series.streams)
      for (const direction of ['in', 'out'] as const) yield* oneSeries(bench, series, streams, direction)
}

async function* oneSeries(
  { runs, bridges, backend }: Bench,
  { kind, name, directions, targets }: Series,
  streams: number,
  direction: Direction,
): AsyncGenerator<Entry> {
  const question = `${name}, ${streams === 1 ? '1 stream' : `${streams} streams`} ${directions[direction]}`
  const checked = new Set<string>()
  yield* compareWithPeers({
    runs,
    bridges,
    kind,
    figures: {
      speed: { name: question, unit: 'GB/s', better: 'more', targets },
      cost: { name: question, unit: 'CPU s per GB', better: 'less', targets },
    },
    measure: async (bridge) => {
      const entrance = { port: bridge.port(kind, backend.port), ca: bridges.certificate }
      const path = { kind, entrance, backend, direction }
      if (!checked.has(bridge.name)) await checkIntegrity(path)
      checked.add(bridge.name)
      const before = bridge.processorSeconds()
      const until = performance.now() + TRANSFER_MS
      const { bytes, seconds } = await transfer({ ...path, streams }, () => performance.now() < until)
      return {
        speed: bytes / GB / seconds,
        cost: (bridge.processorSeconds() - before) / (bytes / GB),
      }
    },
  })
}
