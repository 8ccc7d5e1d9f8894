// The family `relay`: the relay's data path beside haproxy, nginx and Go, and the cost of idle clients.
import type { Entry } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { Backend } from './backend.ts'
import { connections } from './connections.ts'
import { leaveTestedCore, takeAllCores } from './cores.ts'
import { latency } from './latency.ts'
import { memory } from './memory.ts'
import { startBridges } from './running-bridges.ts'
import { startService } from './service.ts'
import { throughput } from './throughput.ts'
import { workers } from './workers.ts'

export async function* relay({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  leaveTestedCore()
  const backend = await Backend.listen()
  const service = await startService()
  const bridges = await startBridges([
    { kind: 'tcp', to: backend.port },
    { kind: 'tcp', to: service.tcp },
    { kind: 'tls', to: backend.port },
    { kind: 'carrier', to: backend.port },
  ])
  try {
    yield* throughput({ runs, bridges, backend })
    yield* latency({ runs, bridges, backend, service: service.tcp })
    yield* connections(bridges, service.tcp, runs)
  } finally {
    await bridges.stop()
    service.stop()
    backend.close()
  }
  yield* memory()
  takeAllCores()
  yield* workers(runs)
}
