// The hostnames of a lease that may be a site's: the root host is the relay's own, whatever a lease says.

import type { Lease } from './lease.ts'

/** Lists those that are one label below the root host. */
export function siteHostnames({ hostnames }: Pick<Lease, 'hostnames'>, rootHost: string): string[] {
  return hostnames.filter((hostname) => {
    const dot = hostname.indexOf('.')
    return dot > 0 && hostname.slice(dot + 1) === rootHost
  })
}
