// The family `relay`: the relay's data path beside haproxy, nginx and Go, and what those who are idle cost it.
import type { Entry } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { connections } from './connections.ts'
import { leaveTestedCore, takeAllCores } from './cores.ts'
import { Far } from './far.ts'
import { latency } from './latency.ts'
import { memory } from './memory.ts'
import { startBridges } from './running.ts'
import { startService } from './service.ts'
import { throughput } from './throughput.ts'
import { workers } from './workers.ts'

export async function* relay({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  leaveTestedCore()
  const far = await Far.listen()
  const service = await startService()
  const bridges = await startBridges([
    { kind: 'tcp', to: far.port },
    { kind: 'tcp', to: service.tcp },
    { kind: 'tls', to: far.port },
    { kind: 'carrier', to: far.port },
  ])
  try {
    yield* throughput({ runs, bridges, far })
    yield* latency({ runs, bridges, far, service: service.tcp })
    yield* connections(bridges, service.tcp, runs)
  } finally {
    await bridges.stop()
    service.stop()
    far.close()
  }
  yield* memory()
  takeAllCores()
  yield* workers(runs)
}
