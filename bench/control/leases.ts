// A crowd of leases in this process: the relay's own registry, without a network.
import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { LeaseRegistry } from '../../relay/src/core/lease/lease-registry.ts'
import { Reservations } from '../../relay/src/core/lease/reservations.ts'
import { ROOT_ROUTE, type Route } from '../../relay/src/core/lease/route.ts'
import { RoutingTable } from '../../relay/src/core/routing/routing-table.ts'

const ROOT_HOST = 'relay.example'

export interface Crowd {
  routes: RoutingTable<Route>
  leases: LeaseRegistry
}

/** Names are this and a number of this many digits, so that all are equally long. */
export const PREFIX = 'site-'
export const DIGITS = 6

/** @param expiresAt milliseconds since the epoch, the same for all */
export function createCrowd(count: number, expiresAt: number): Crowd {
  const routes = new RoutingTable<Route>(ROOT_HOST, ROOT_ROUTE)
  const leases = new LeaseRegistry(routes, new Reservations())
  for (let i = 0; i < count; i++) {
    const name = labelOf(i)
    const draft = leases.draft(
      {
        identity: { name, address: `0x${randomBytes(20).toString('hex')}` },
        allowCanonicalFallback: false,
        metadata: {},
        ttlS: (expiresAt - Date.now()) / 1000,
        wanted: { udp: false, tcp: false },
      },
      // One network may have only a share of the leases.
      { clientIp: `10.${i >> 16}.${(i >> 8) & 0xff}.${i & 0xff}`, reportedIp: undefined },
    )
    draft.commit()
  }
  return { routes, leases }
}

export function hostnameOf(number: number): string {
  return `${labelOf(number)}.${ROOT_HOST}`
}

function labelOf(number: number): string {
  return `${PREFIX}${String(number).padStart(DIGITS, '0')}`
}

export function endCrowd({ leases }: Crowd): void {
  for (const lease of [...leases]) leases.end(lease, 'shutdown')
}

/** Bytes in use after a collection. */
export function collectedBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
