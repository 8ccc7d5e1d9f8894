// The hostnames of a lease that a site may have: never the root host, which is the relay's own.

import type { Lease } from './lease.ts'

/** Lists those exactly one label below the root host. */
export function siteHostnames({ hostnames }: Pick<Lease, 'hostnames'>, rootHost: string): string[] {
  return hostnames.filter((hostname) => {
    const dot = hostname.indexOf('.')
    return dot > 0 && hostname.slice(dot + 1) === rootHost
  })
}
