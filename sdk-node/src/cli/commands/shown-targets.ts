// The local services of a tunnel, as output shows them.

import { parseHttpTarget, parseTcpTarget } from '../../target/target-address.ts'
import type { SiteCommand } from '../options/parsed-command.ts'
import type { Targets } from '../report/report.ts'
import { type PricedRoute, parseRoute } from './paid-options.ts'

/** Returns the targets of a command; one that is no address as it was written. */
export function shownTargets(command: SiteCommand): Targets {
  const routes = routesOf(command).map(({ place, target }) => [place, shownHttp(target)])
  return {
    ...webOf(command),
    ...(routes.length > 0 && { routes: Object.fromEntries(routes) }),
    ...(command.command === 'expose' && servicesOf(command.options)),
  }
}

/** Returns the routes of a command, without those that are wrong. */
export function routesOf({ options: { route } }: SiteCommand): PricedRoute[] {
  return route.flatMap((text) => {
    try {
      return [parseRoute(text)]
    } catch {
      return []
    }
  })
}

/** Returns the text of an HTTP target, or of a folder. */
export function shownHttp(target: string): string {
  try {
    const { href } = parseHttpTarget(target)
    return href.endsWith('/') ? href.slice(0, -1) : href
  } catch {
    // It is a folder.
    return target
  }
}

/** Returns the text of a TCP or UDP service. */
export function shownService(target: string): string {
  try {
    const { host, port } = parseTcpTarget('', target)
    return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  } catch {
    return target
  }
}

function webOf(command: SiteCommand): Pick<Targets, 'url'> {
  if (command.command === 'serve') return { url: command.folder }
  const { target, options } = command
  if (target !== undefined) return { url: shownHttp(target) }
  if (options.tls !== undefined) return { url: shownService(options.tls) }
  return options.replay === undefined ? {} : { url: options.replay }
}

function servicesOf({ tcp, udp }: { tcp?: string; udp?: string }): Pick<Targets, 'tcp' | 'udp'> {
  return {
    ...(tcp !== undefined && { tcp: shownService(tcp) }),
    ...(udp !== undefined && { udp: shownService(udp) }),
  }
}
