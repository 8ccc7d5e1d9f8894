// What a visitor's address costs the relay, in memory.
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Entry, limited } from '../lib/entry.ts'
import { comeByTheThousand } from './client.ts'
import { type OwnWay, startOwn } from './ways.ts'

const FLOWS = 10_000
const FLOW_MAX_BYTES = 2_048
/** For what was just opened to come to rest. */
const SETTLE_MS = 500
const PROBE = path.join(import.meta.dirname, '../carrier/memory-probe.ts')

export async function memory(service: number): Promise<Entry> {
  const own = await startOwn(service, ['--expose-gc', '--import', PROBE])
  // what the first ones make of code and buffers stays
  const leaveFirst = await comeByTheThousand(own.port, FLOWS / 10)
  const before = await heapOf(own)
  const leave = await comeByTheThousand(own.port, FLOWS)
  const bytes = ((await heapOf(own)) - before) / FLOWS
  leaveFirst()
  leave()
  await own.stop()
  return limited(
    { name: `relay's memory of a flow, of ${FLOWS}`, unit: 'bytes', better: 'less' },
    bytes,
    FLOW_MAX_BYTES,
  )
}

async function heapOf({ relay }: OwnWay): Promise<number> {
  await pause(SETTLE_MS)
  const line = relay.line<{ heap: number }>('memory')
  process.kill(relay.pid, 'SIGUSR2')
  return (await line).heap
}
