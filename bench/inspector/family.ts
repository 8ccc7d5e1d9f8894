// The family `inspector`: what it costs a site in front of a server, in its processor time, while it is closed and while it is open.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { requestsPerSecond } from '../../tools/load/requests-per-second.ts'
import { BenchRelay } from '../carrier/relay.ts'
import { alternate } from '../lib/alternate.ts'
import { compared, type Entry } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { processorSeconds } from '../node/processes.ts'

const SECONDS = 2
const CONNECTIONS = 8
const MICROSECONDS = 1e6
const QUESTION = { peer: 'without', unit: 'CPU µs', better: 'less' } as const

/** The URLs of the sites. */
export interface Sites {
  plain: string
  closed: string
  open: string
}

export async function* inspector({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start()
  const ca = await relay.ca()
  const server = createServer((_, response) => response.end('hello'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const child = fork(path.join(import.meta.dirname, 'site-process.ts'), [relay.url, ca, String(port)])
  const [sites] = (await once(child, 'message')) as [Sites]
  const cost = (url: string) => async (): Promise<number> => {
    const before = processorSeconds([child.pid!])
    const load = { url, ca, connections: CONNECTIONS, seconds: SECONDS }
    const answers = SECONDS * (await requestsPerSecond(load))
    return ((processorSeconds([child.pid!]) - before) * MICROSECONDS) / answers
  }
  const { plain, closed, open } = await alternate(runs, {
    plain: cost(sites.plain),
    closed: cost(sites.closed),
    open: cost(sites.open),
  })
  yield compared({ ...QUESTION, name: 'a small answer, inspector closed', target: 0.99 }, closed, plain)
  yield compared({ ...QUESTION, name: 'a small answer, inspector open', target: 0.95 }, open, plain)
  child.disconnect()
  server.closeAllConnections()
  server.close()
  await relay.stop()
}
