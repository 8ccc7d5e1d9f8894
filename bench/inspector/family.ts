// The family `inspector`: the processor time that it adds to a small answer, while it is closed and while it is open.
// A few microseconds are lost in what a whole site does, so that they are measured alone, beside a whole answer.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { DIRECT, type DirectlyHandled } from '@svc/sdk-core'
import { newInspection } from '../../sdk-node/src/inspector/inspector-server.ts'
import { InspectorSwitch } from '../../sdk-node/src/inspector/inspector-switch.ts'
import { requestsPerSecond } from '../../tools/load/requests-per-second.ts'
import { BenchRelay } from '../carrier/relay.ts'
import { alternate } from '../lib/alternate.ts'
import { cpuSeconds } from '../lib/clock.ts'
import { type Entry, limited } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { processorSeconds } from '../node/processes.ts'

const SECONDS = 2
const CONNECTIONS = 8
const MICROSECONDS = 1e6
/** Calls of a handler that are measured together. */
const CALLS = 50_000
const FIELDS = ['host', 'user-agent', 'accept', 'accept-encoding', 'cookie'].map(
  (name) => [name, 'a value'] as const,
)
const PERCENT = { unit: '% of CPU time', better: 'less' } as const

export async function* inspector({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start()
  const ca = await relay.ca()
  const server = createServer((_, response) => response.end('hello'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const child = fork(path.join(import.meta.dirname, 'site-process.ts'), [relay.url, ca, String(port)])
  const [url] = (await once(child, 'message')) as [string]
  const answer = async (): Promise<number> => {
    const before = processorSeconds([child.pid!])
    const answers =
      SECONDS * (await requestsPerSecond({ url, ca, connections: CONNECTIONS, seconds: SECONDS }))
    return ((processorSeconds([child.pid!]) - before) * MICROSECONDS) / answers
  }
  const open = new InspectorSwitch()
  open.use(newInspection().inspector)
  const costs = await alternate(runs, {
    answer,
    without: () => callCost(direct()),
    closed: () => callCost(new InspectorSwitch().wrap(direct())),
    open: () => callCost(open.wrap(direct())),
  })
  const added = (cost: number): number => (100 * Math.max(0, cost - costs.without)) / costs.answer
  yield limited(
    { ...PERCENT, name: 'what a closed inspector adds to a small answer' },
    added(costs.closed),
    1,
  )
  yield limited({ ...PERCENT, name: 'what an open inspector adds to a small answer' }, added(costs.open), 5)
  child.disconnect()
  server.closeAllConnections()
  server.close()
  await relay.stop()
}

/** A handler whose direct path answers at once. */
function direct(): DirectlyHandled {
  const bytes = new TextEncoder().encode('hello')
  const handler: DirectlyHandled = () => new Response()
  handler[DIRECT] = ({ onSent }) => ({
    respond: async () => {
      onSent?.()
      const content = { pieces: [bytes], size: bytes.length, done: true }
      const fields = FIELDS.map(([name, value]) => [name, value] as const)
      return {
        ...{ status: 200, statusText: '', fields, length: bytes.length },
        ready: () => content,
        next: async () => content,
        cancel: () => {},
      }
    },
    cancel: () => {},
  })
  return handler
}

/** Resolves with the processor time of one call, in microseconds. */
async function callCost(handler: DirectlyHandled): Promise<number> {
  const url = new URL('https://site.example/path?query=1')
  const seconds = await cpuSeconds(async () => {
    for (let call = 0; call < CALLS; call += 1) {
      const exchange = handler[DIRECT]!({ method: 'GET', url, fields: FIELDS, body: undefined })
      const answer = await exchange!.respond()
      answer.ready()
    }
  })
  return (seconds * MICROSECONDS) / CALLS
}
