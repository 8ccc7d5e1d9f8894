// Memory of hop routes that no visitor uses: prints the bytes of the heap and of buffers that each takes, by the relay's own table.
import { randomBytes } from 'node:crypto'
import { HOP_ROUTES_PER_OWNER_MAX } from '../../protocol/src/index.ts'
import { now } from '../../relay/src/core/clock.ts'
import type { Lease } from '../../relay/src/core/lease/lease.ts'
import { HopRoutes } from '../../relay/src/features/overlay/hop/hop-routes.ts'

const ROUTES = 16_000
const VALID_MS = 600_000

declare const gc: () => void

function weigh(): number {
  gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The leases are there with and without routes. */
const leases = Array.from({ length: ROUTES / HOP_ROUTES_PER_OWNER_MAX }, () => {
  const ended = new AbortController().signal
  return { identity: { address: `0x${randomBytes(20).toString('hex')}` }, ended } as unknown as Lease
})
const features = new Map<string, object>()
const hops = new HopRoutes((key) => void features.set(key, { to: 'feature', isOpen: () => true }))
const before = weigh()
for (let index = 0; index < ROUTES; index++) {
  hops.add({
    key: `site-${randomBytes(20).toString('hex')}.relay.example.com`,
    lease: leases[index % leases.length]!,
    hostnameHash: randomBytes(32).toString('hex'),
    next: { identity: `0x${randomBytes(20).toString('hex')}`, token: randomBytes(32).toString('hex') },
    signedUntil: Date.now() + VALID_MS,
    expiresAt: now() + VALID_MS,
  })
}
console.log((weigh() - before) / hops.size)
process.exit(0)
