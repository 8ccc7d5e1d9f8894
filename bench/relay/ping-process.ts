// A visitor who asks again and again, in a process of its own: it must not wait for the load on the bridge beside it.
import { setPriority } from 'node:os'
import { ranked, roundTrips } from '../node/visitors.ts'
import type { PingJob, PingReport } from './latency.ts'

const PINGS = 300
/** A bridge that is slow beside bulk is asked less often. */
const PINGS_MAX_MS = 1500
const HIGH_PRIORITY = -15

try {
  setPriority(HIGH_PRIORITY)
} catch {
  // Not every user may do this: then it waits for a core in all measurements alike.
}
process.on('disconnect', () => process.exit())
process.on('message', async ({ port }: PingJob) => {
  const waits = await roundTrips({ port }, PINGS, PINGS_MAX_MS)
  const report: PingReport = { p50: ranked(waits, 'p50'), p99: ranked(waits, 'p99') }
  process.send!(report)
})
