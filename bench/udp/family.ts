// The family `udp`: a UDP echo behind a relay and `svc expose --udp`, beside direct UDP, frp and chisel.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { alternate, alternateAll, median } from '../lib/alternate.ts'
import { compared, type Entry, limited, missing, type Question } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { roundTrips, type Trips } from './client.ts'
import { IN_TIME_MS, type LoadReport, load } from './load.ts'
import { memory } from './memory.ts'
import { PEERS, type PeerUdpTunnel, startOwn, startPeers, type UdpTunnel } from './tunnels.ts'

const SIZES = [64, 1150]
const RATES = [10_000]
/** The figures of each run under a rate that are compared. */
const FIGURES: [keyof LoadReport, Omit<Question, 'peer'>][] = [
  ['back', { name: 'back', unit: '%', better: 'more' }],
  ['inTime', { name: `back within ${IN_TIME_MS} ms`, unit: '%', better: 'more' }],
  ['p50Ms', { name: 'median', unit: 'ms', better: 'less' }],
  ['p99Ms', { name: 'p99', unit: 'ms', better: 'less' }],
  ['lateSendP99Ms', { name: 'sent late by the generator, p99', unit: 'ms', better: 'less', target: null }],
]
const DIRECT = 'direct UDP'

export async function* udp({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const echo = fork(path.join(import.meta.dirname, 'echo-process.ts'))
  const [direct] = (await once(echo, 'message')) as [number]
  const own = await startOwn(direct)
  const peers = await startPeers(direct)
  try {
    for (const bytes of SIZES) yield* trips(bytes, runs, { own, peers, direct })
    for (const perSecond of RATES) yield* arrivals(perSecond, runs, { own, peers, direct })
    yield await memory(direct)
  } finally {
    await own.stop()
    for (const peer of peers) await peer.stop()
    echo.disconnect()
  }
}

interface Tunnels {
  own: UdpTunnel
  /** Those that are installed. */
  peers: PeerUdpTunnel[]
  direct: number
}

async function* trips(bytes: number, runs: number, { own, peers, direct }: Tunnels): AsyncGenerator<Entry> {
  const seen: Record<string, Trips[]> = {}
  const measure = (name: string, port: number) => async (): Promise<number> => {
    const found = await roundTrips(port, bytes)
    seen[name] = [...(seen[name] ?? []), found]
    return found.perSecond
  }
  await alternate<string>(runs, {
    own: measure('own', own.port),
    direct: measure('direct', direct),
    ...Object.fromEntries(peers.map(({ name, port }) => [name, measure(name, port)])),
  })
  const of = (name: string, field: keyof Trips): number => median(seen[name]!.map((one) => one[field]))
  const fields: [keyof Trips, Omit<Question, 'peer'>][] = [
    ['perSecond', { name: `round trips, ${bytes} bytes, one at a time`, unit: '1/s', better: 'more' }],
    ['p50Us', { name: `round trip, ${bytes} bytes, median`, unit: 'µs', better: 'less' }],
    ['p99Us', { name: `round trip, ${bytes} bytes, p99`, unit: 'µs', better: 'less' }],
  ]
  for (const [field, question] of fields) {
    const ours = of('own', field)
    yield compared({ ...question, peer: DIRECT, target: null }, ours, of('direct', field))
    for (const { name, install } of PEERS)
      if (peers.some((peer) => peer.name === name))
        yield compared({ ...question, peer: name }, ours, of(name, field))
      else yield missing({ ...question, peer: name }, ours, install)
  }
}

async function* arrivals(perSecond: number, runs: number, tunnels: Tunnels): AsyncGenerator<Entry> {
  const { own, peers, direct } = tunnels
  for (const bytes of SIZES) {
    const measure = (port: number) => () => load(port, perSecond, bytes)
    const found = await alternateAll<string, keyof LoadReport>(runs, {
      own: measure(own.port),
      [DIRECT]: measure(direct),
      ...Object.fromEntries(peers.map(({ name, port }) => [name, measure(port)])),
    })
    const ours = found.own!
    const of = `of ${perSecond} a second, ${bytes} bytes`
    yield limited({ name: `back within ${IN_TIME_MS} ms ${of}`, unit: '%', better: 'more' }, ours.inTime, 100)
    for (const name of [DIRECT, ...peers.map((peer) => peer.name)]) {
      const question = { peer: name, target: name === DIRECT ? null : 1 }
      const theirs = found[name]!
      for (const [field, what] of FIGURES)
        yield compared({ ...question, ...what, name: `${what.name} ${of}` }, ours[field], theirs[field])
    }
  }
}
