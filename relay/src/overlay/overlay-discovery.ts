// `GET /discovery` on the overlay: the same answer as at the relay's public address.

import type { IncomingMessage } from 'node:http'
import { PATH } from '@svc/protocol'
import { createDiscoveryList, type RelayDirectory } from '../api/handlers/discovery.ts'
import { BodyWriter } from '../api/http/body-writer.ts'
import type { OverlayHandler } from './overlay-server.ts'

/** Rows of the table of the overlay server. */
export function overlayDiscovery(directory: Pick<RelayDirectory, 'prepare'>): [string, OverlayHandler][] {
  // A relay could choose its key so that its address is close to another one's, whose share it would take.
  const identities = new WeakMap<IncomingMessage, string>()
  const writer = new BodyWriter((request) => identities.get(request)!)
  const answer = createDiscoveryList(directory, writer)
  const handler: OverlayHandler = ({ identity }, request, response) => {
    identities.set(request, identity)
    return answer(request, response)
  }
  return [
    [`GET ${PATH.discovery}`, handler],
    [`HEAD ${PATH.discovery}`, handler],
  ]
}
