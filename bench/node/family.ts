// The family `node`: a local service behind a relay and `svc expose`, beside the tunnels that a user would pick instead.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Entry } from '../lib/entry.ts'
import { missing } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { endedTls } from './ended-tls.ts'
import { restart } from './restart.ts'
import { tcpPort } from './tcp-port.ts'
import { missingPeers } from './tunnels.ts'
import { website } from './website.ts'
import type { Service } from './work.ts'

export async function* node({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const child = fork(path.join(import.meta.dirname, 'service-process.ts'))
  const [service] = (await once(child, 'message')) as [Service]
  yield* tcpPort(service, runs)
  yield* website(service, runs)
  yield* endedTls(service, runs)
  yield* restart(service, runs)
  for (const { name, target, install } of missingPeers())
    yield missing({ name: 'all of the above', unit: '', better: 'more', peer: name, target }, null, install)
  child.disconnect()
}
