// The host that addresses of dedicated ports name: an address of this machine, since browsers share cookies among all ports of a name.

import { isLocalhost, type Settings } from '../../core/config/settings.ts'
import type { Logger } from '../../core/log/log.ts'

/** Time for the first lookup of the relay's addresses, which dedicated ports name; a start waits no longer. */
const PORT_HOST_FIND_MS = 3_000

/** @returns the host as it is known now; undefined: only the root host is known */
export interface PortHost {
  current: () => string | undefined
  close(): void
}

type PortSettings = Pick<Settings, 'portHost' | 'portRange' | 'rootHost' | 'publicAddresses' | 'cluster'>

const LOOPBACK = '127.0.0.1'

/** Resolves when the first lookup of the public addresses is done, or takes too long. */
export async function findPortHost(settings: PortSettings, log: Logger): Promise<PortHost> {
  const { portHost, portRange, rootHost, publicAddresses, cluster } = settings
  if (portHost !== undefined && portRange !== undefined && sharesCookies(portHost, rootHost))
    log.warn({ portHost }, sharedCookies(portHost))
  if (portHost !== undefined || portRange === undefined) return fixed(portHost)
  if (isLocalhost(rootHost)) return fixed(LOOPBACK)
  const { PublicAddressWatcher } = await import('../dns/public-address/public-address-watcher.ts')
  // In a cluster, the configured addresses and those in DNS are those of several machines, not of this one.
  const own = { rootHost, publicAddresses: cluster ? { ipv4: undefined, ipv6: undefined } : publicAddresses }
  const addresses = new PublicAddressWatcher(own, log, { answersItself: cluster !== undefined })
  let current: string | undefined
  const first = Promise.withResolvers<void>()
  const close = addresses.watch(({ ipv4, ipv6 }) => {
    current = ipv4[0] ?? ipv6[0]
    if (current === undefined) log.warn(sharedCookies(rootHost))
    first.resolve()
  })
  const late = setTimeout(first.resolve, PORT_HOST_FIND_MS)
  await first.promise
  clearTimeout(late)
  return { current: () => current, close }
}

function fixed(host: string | undefined): PortHost {
  return { current: () => host, close: () => {} }
}

/** Whether a name is the root host or below it, where visitors of a port would share cookies with the relay or its sites. */
export function sharesCookies(host: string, rootHost: string): boolean {
  return host === rootHost || host.endsWith(`.${rootHost}`)
}

/** Returns the warning about such a name, for the log and `svc-relay check`. */
export function sharedCookies(host: string): string {
  return `dedicated ports are named ${host}, where browsers share cookies with the relay or its sites: PORT_HOST can name an address, or a host of another domain`
}
