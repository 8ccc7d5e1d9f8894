// The redirect listener, and what it asks of the relay.

import type { Server } from 'node:http'
import { reachable } from '../core/ingress/sni-listener.ts'
import type { RelayParts } from './parts.ts'

/** @returns undefined where plain HTTP is not redirected; the server does not listen yet */
export async function createRedirects({
  settings,
  state,
  counters,
}: RelayParts): Promise<Server | undefined> {
  if (settings.httpRedirectAddress === undefined) return undefined
  const { createRedirectListener } = await import('../features/redirect/redirect-listener.ts')
  return createRedirectListener({
    isServed: (host) => reachable(host, state) !== undefined,
    httpsPort: settings.url.port,
    trustedProxies: settings.trustedProxies,
    onRefuse: (reason) => counters.connectionsRefused.add({ reason }),
  })
}
