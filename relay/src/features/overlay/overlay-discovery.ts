// `GET /discovery` on the overlay: the same answer as at the relay's public address, and the request to a peer.

import type { IncomingMessage } from 'node:http'
import { PATH } from '@svc/protocol'
import { BodyWriter } from '../../core/api/http/body-writer.ts'
import type { Handler } from '../../core/api/http/server.ts'
import type { RequestMemory } from '../../core/rate-limit/request-memory.ts'
import { askPeer } from './ask-peer.ts'
import type { OverlayNetwork } from './overlay-network.ts'
import type { OverlayHandler } from './overlay-server.ts'

/**
 * Handlers for the table of the overlay server.
 * @param listFor makes the handler of the list, which the given writer sends
 * @param memory limit for lists that peers have not read yet; by default that of the API's responses
 */
export function overlayDiscovery(
  listFor: (writer: BodyWriter) => Handler,
  memory?: RequestMemory,
): [string, OverlayHandler][] {
  // Shares go by identity: a relay could choose its key so that its address is near another one's, and take its share.
  const identities = new WeakMap<IncomingMessage, string>()
  const writer = new BodyWriter((request) => identities.get(request)!, memory)
  const answer = listFor(writer)
  const handler: OverlayHandler = ({ identity }, request, response) => {
    identities.set(request, identity)
    return answer(request, response)
  }
  return [
    [`GET ${PATH.discovery}`, handler],
    [`HEAD ${PATH.discovery}`, handler],
  ]
}

/** Asks the peer at an origin. Rejects when there is none, or its status is not 200. */
export function askRelaysOver(
  network: OverlayNetwork,
): (origin: string, path: string, signal: AbortSignal) => Promise<string> {
  return async (origin, path, signal) => {
    const peer = [...network.peers()].find((one) => one.origin === origin)
    if (peer === undefined) throw new Error('the relay is no peer')
    const answer = await askPeer(network, peer, { path }, signal)
    answer.socket?.destroy()
    if (answer.socket !== undefined || answer.status !== 200)
      throw new Error('the peer does not answer the question')
    return answer.text
  }
}
