// The service that answers, in a process of its own: the one that tunnels lead to.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Service } from '../node/work.ts'

const PROCESS = path.join(import.meta.dirname, '../node/service-process.ts')

export interface RunningService {
  /** Its port. */
  tcp: number
  stop(): void
}

export async function startService(): Promise<RunningService> {
  const child = fork(PROCESS)
  const [{ tcp }] = (await once(child, 'message')) as [Service]
  return { tcp, stop: () => child.disconnect() }
}
