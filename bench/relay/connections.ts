// Visitors who come, ask once and leave, each with a connection of its own: how many are served, and at what cost.
import type { Entry } from '../lib/entry.ts'
import { processorSeconds } from '../node/processes.ts'
import { type OwnTunnel, startOwn } from '../node/tunnels.ts'
import { visitorsPerSecond } from '../node/visitors.ts'
import { OURS } from './bridges.ts'
import { compareWithPeers } from './compare-with-peers.ts'
import { moveToTestedCore } from './cores.ts'
import type { Bridges, RunningBridge } from './running-bridges.ts'

const AT_ONCE = 16
const SECONDS = 0.5
const TARGETS = { haproxy: 0.7, Go: 1 } as const

/** @param service port of one that answers */
export async function* connections(bridges: Bridges, service: number, runs: number): AsyncGenerator<Entry> {
  yield* series('raw bridge', bridges, service, runs)
  for (const carrier of ['native', 'websocket']) {
    const own = await startOwn(['--tcp', `127.0.0.1:${service}`, '--carrier', carrier])
    yield* series(`relay and svc (${carrier})`, { ...bridges, ours: relayOf(own) }, service, runs)
    await own.stop()
  }
}

/** Takes the relay out of a tunnel: it alone is under test. */
function relayOf({ port, relayPid }: OwnTunnel): RunningBridge {
  moveToTestedCore(relayPid)
  return { name: OURS.name, port: () => port, processorSeconds: () => processorSeconds([relayPid]) }
}

async function* series(what: string, bridges: Bridges, service: number, runs: number): AsyncGenerator<Entry> {
  const name = `${what}, visitors who ask once`
  yield* compareWithPeers({
    runs,
    bridges,
    kind: 'tcp',
    figures: {
      rate: { name, unit: 'per s', better: 'more', targets: TARGETS },
      cost: { name, unit: 'CPU ms each', better: 'less', targets: TARGETS },
    },
    measure: async (bridge) => {
      const before = bridge.processorSeconds()
      const rate = await visitorsPerSecond({ port: bridge.port('tcp', service) }, AT_ONCE, SECONDS)
      const spent = bridge.processorSeconds() - before
      return { rate, cost: (spent * 1000) / (rate * SECONDS) }
    },
  })
}
