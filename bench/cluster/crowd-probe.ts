// Preloaded into a machine that runs with --expose-gc: it prints how many leases it has followed, and on SIGUSR2 it collects
// garbage and prints what memory is left, and when it heard of leases whose names begin with `timed`.
import { LeaseRegistry } from '../../relay/src/core/lease/lease-registry.ts'

export interface CrowdFigures {
  /** Bytes, after a collection. */
  rss: number
  heap: number
  /** Milliseconds since the epoch, by name. */
  heardAt: Record<string, number>
}

const TELL_MS = 20
let followed = 0
let told = 0
const heardAt: Record<string, number> = {}

const follow = LeaseRegistry.prototype.apply
LeaseRegistry.prototype.apply = function (lease) {
  follow.call(this, lease)
  followed += 1
  const { name } = lease.identity
  if (name.startsWith('timed')) heardAt[name] = performance.timeOrigin + performance.now()
}

setInterval(() => {
  if (followed === told) return
  told = followed
  process.stdout.write(`${JSON.stringify({ followed })}\n`)
}, TELL_MS).unref()

process.on('SIGUSR2', () => {
  globalThis.gc?.()
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  const crowd: CrowdFigures = { rss, heap: heapUsed + external, heardAt }
  process.stdout.write(`${JSON.stringify({ crowd })}\n`)
})
