// The family `address`: what the visitor's address costs a site that asks for it, beside one that does not, in the processor time of
// relay and site together.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { requestsPerSecond } from '../../tools/load/requests-per-second.ts'
import { BenchRelay } from '../carrier/relay.ts'
import { targetOf } from '../http/target.ts'
import { firstByteNew } from '../http/visitors.ts'
import { alternate } from '../lib/alternate.ts'
import { compared, type Entry } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { processorSeconds } from '../node/processes.ts'

const SECONDS = 2
const CONNECTIONS = 8
const NEW_CONNECTIONS = 200
const MICROSECONDS = 1e6
const QUESTION = { peer: 'without the address', unit: 'CPU µs', better: 'less' } as const

/** The URLs of the two sites. */
export interface Sites {
  asking: string
  silent: string
}

export async function* address({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start()
  const ca = await relay.ca()
  const child = fork(path.join(import.meta.dirname, 'site-process.ts'), [relay.url, ca])
  const [sites] = (await once(child, 'message')) as [Sites]
  const cost = async (count: () => Promise<number>): Promise<number> => {
    const before = processorSeconds([relay.pid, child.pid!])
    const done = await count()
    return ((processorSeconds([relay.pid, child.pid!]) - before) * MICROSECONDS) / done
  }
  const kept = (url: string) => () =>
    cost(
      async () =>
        SECONDS * (await requestsPerSecond({ url, ca, connections: CONNECTIONS, seconds: SECONDS })),
    )
  const fresh = (url: string) => () =>
    cost(async () => {
      await firstByteNew(targetOf(url, ca), NEW_CONNECTIONS)
      return NEW_CONNECTIONS
    })
  for (const [name, measure, target] of [
    [`a small answer on a kept connection, connections: ${CONNECTIONS}`, kept, 0.99],
    ['a small answer on a new connection', fresh, null],
  ] as const) {
    const { asking, silent } = await alternate(runs, {
      asking: measure(sites.asking),
      silent: measure(sites.silent),
    })
    yield compared({ ...QUESTION, name, target }, asking, silent)
  }
  child.disconnect()
  await relay.stop()
}
