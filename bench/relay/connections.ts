// Visitors who come, ask once and leave, each with a connection of its own: how many a bridge serves, and at what cost.
import type { Entry } from '../lib/entry.ts'
import { visitorsPerSecond } from '../node/visitors.ts'
import { beside } from './beside.ts'
import type { Bridges } from './running.ts'

const AT_ONCE = 16
const SECONDS = 0.5
const TARGETS = { haproxy: 0.7, Go: 1 } as const
const NAME = 'raw bridge, visitors who ask once'

/** @param service port of one that answers */
export async function* connections(bridges: Bridges, service: number, runs: number): AsyncGenerator<Entry> {
  yield* beside({
    runs,
    bridges,
    kind: 'tcp',
    figures: {
      rate: { name: NAME, unit: 'per s', better: 'more', targets: TARGETS },
      cost: { name: NAME, unit: 'CPU ms each', better: 'less', targets: TARGETS },
    },
    measure: async (bridge) => {
      const before = bridge.processorSeconds()
      const rate = await visitorsPerSecond({ port: bridge.port('tcp', service) }, AT_ONCE, SECONDS)
      const spent = bridge.processorSeconds() - before
      return { rate, cost: (spent * 1000) / (rate * SECONDS) }
    },
  })
}
