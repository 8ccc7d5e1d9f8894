// A visitor of a site's WebSocket, who comes in at a port of this machine.
import type { Site } from '@svc/sdk-node'
import { WebSocket } from 'ws'

/**
 * @param path of the site, where it answers a handshake
 * @param ca as PEM
 * @param port of the relay, or of a load balancer before it
 */
export function openSocket(
  site: Pick<Site, 'url'>,
  path: string,
  { ca, port }: { ca: string; port: number },
): WebSocket {
  const { hostname, host } = new URL(site.url)
  const options = { ca, servername: hostname, headers: { Host: host } }
  return new WebSocket(`wss://127.0.0.1:${port}${path}`, [], options)
}
