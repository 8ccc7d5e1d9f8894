// The family `relay`: the relay's data path beside haproxy, nginx and Go, and what those who are idle cost it.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Entry } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import type { Service } from '../node/work.ts'
import { connections } from './connections.ts'
import { leaveTestedCore } from './cores.ts'
import { Far } from './far.ts'
import { latency } from './latency.ts'
import { memory } from './memory.ts'
import { startBridges } from './running.ts'
import { throughput } from './throughput.ts'

const SERVICE_PROCESS = path.join(import.meta.dirname, '../node/service-process.ts')

export async function* relay({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  leaveTestedCore()
  const far = await Far.listen()
  const child = fork(SERVICE_PROCESS)
  const [{ tcp: service }] = (await once(child, 'message')) as [Service]
  const bridges = await startBridges([
    { kind: 'tcp', to: far.port },
    { kind: 'tcp', to: service },
    { kind: 'tls', to: far.port },
    { kind: 'carrier', to: far.port },
  ])
  try {
    yield* throughput({ runs, bridges, far })
    yield* latency({ runs, bridges, far, service })
    yield* connections(bridges, service, runs)
  } finally {
    await bridges.stop()
    child.disconnect()
    far.close()
  }
  yield* memory()
}
