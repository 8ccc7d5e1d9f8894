// Measures what a visitor's address costs the relay, in memory.
import { memoryOf, PROBED } from '../carrier/relay-memory.ts'
import { type Entry, limited } from '../lib/entry.ts'
import { comeByTheThousand } from './client.ts'
import { type OwnUdpTunnel, startOwn } from './tunnels.ts'

const FLOWS = 10_000
const FLOW_MAX_BYTES = 2_048

export async function memory(service: number): Promise<Entry> {
  const own = await startOwn(service, PROBED)
  // the code and buffers that the first visitors cause stay
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

async function heapOf({ relay }: OwnUdpTunnel): Promise<number> {
  return (await memoryOf(relay)).heap
}
