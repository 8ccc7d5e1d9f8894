// The family `udp`: a UDP echo behind a relay and `svc expose --udp`, beside direct UDP and frp.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { alternate, median } from '../lib/alternate.ts'
import { compared, type Entry, limited, missing, type Question } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { delivered, roundTrips, type Trips } from './client.ts'
import { memory } from './memory.ts'
import { startFrp, startOwn, type UdpTunnel } from './tunnels.ts'

const SIZES = [64, 1150]
const RATES = [1_000, 5_000, 10_000]
const DIRECT = 'direct UDP'
const FRP = 'frp'
const INSTALL_FRP = 'frps and frpc of a release'

export async function* udp({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const echo = fork(path.join(import.meta.dirname, 'echo-process.ts'))
  const [direct] = (await once(echo, 'message')) as [number]
  const own = await startOwn(direct)
  const frp = await startFrp(direct)
  try {
    for (const bytes of SIZES) yield* trips(bytes, runs, { own, frp, direct })
    for (const perSecond of RATES) yield* arrivals(perSecond, runs, { own, frp, direct })
    yield await memory(direct)
  } finally {
    await own.stop()
    await frp?.stop()
    echo.disconnect()
  }
}

interface Tunnels {
  own: UdpTunnel
  frp: UdpTunnel | undefined
  direct: number
}

async function* trips(bytes: number, runs: number, { own, frp, direct }: Tunnels): AsyncGenerator<Entry> {
  const seen: Record<string, Trips[]> = {}
  const measure = (name: string, port: number) => async (): Promise<number> => {
    const found = await roundTrips(port, bytes)
    seen[name] = [...(seen[name] ?? []), found]
    return found.perSecond
  }
  await alternate<string>(runs, {
    own: measure('own', own.port),
    direct: measure('direct', direct),
    ...(frp && { frp: measure('frp', frp.port) }),
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
    if (frp) yield compared({ ...question, peer: FRP }, ours, of('frp', field))
    else yield missing({ ...question, peer: FRP }, ours, INSTALL_FRP)
  }
}

async function* arrivals(perSecond: number, runs: number, tunnels: Tunnels): AsyncGenerator<Entry> {
  const { own, frp, direct } = tunnels
  for (const bytes of SIZES) {
    const measure = (port: number) => () => delivered(port, perSecond, bytes)
    const found = await alternate<string>(runs, {
      own: measure(own.port),
      direct: measure(direct),
      ...(frp && { frp: measure(frp.port) }),
    })
    const name = `back of ${perSecond} a second, ${bytes} bytes`
    const question = { name, unit: '%', better: 'more' } as const
    yield limited(question, found.own!, 100)
    yield compared({ ...question, peer: DIRECT, target: null }, found.own!, found.direct!)
    if (frp) yield compared({ ...question, peer: FRP }, found.own!, found.frp!)
  }
}
