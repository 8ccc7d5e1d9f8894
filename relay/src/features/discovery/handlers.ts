// Answers `GET /discovery` and `POST /discovery/announce`: lists the relays that this one knows, and accepts
// announcements of others.

import {
  type DiscoveryAnnouncement,
  type DiscoveryAnnounceResponse,
  type DiscoveryResponse,
  ONLY_OWN_DESCRIPTOR,
} from '@svc/protocol'
import type { AnswerEndpoint } from '../../core/api/endpoint-handler.ts'
import { ENDPOINTS } from '../../core/api/endpoints/endpoints.ts'
import type { BodyWriter } from '../../core/api/http/body-writer.ts'
import { ListCache } from '../../core/api/http/list-cache.ts'
import { sendList } from '../../core/api/http/list-response.ts'
import type { Handler } from '../../core/api/http/server.ts'

/** Discovery, as other relays and SDKs use it. */
export interface RelayDirectory {
  /** Resolves with a function that makes the answer. @param isWhole false: with this relay only */
  prepare(): Promise<(isWhole: boolean) => DiscoveryResponse>
  /** @param source normalized address of the client. @throws RelayError when the descriptor is refused */
  announce(announcement: DiscoveryAnnouncement, source: string): Promise<DiscoveryAnnounceResponse>
}

/** Handlers by their names in the table of endpoints. */
export type DiscoveryHandlers = Record<'discovery' | 'announce', Handler>

export function createDiscoveryHandlers(
  directory: RelayDirectory,
  { answer, writer }: { answer: AnswerEndpoint; writer: BodyWriter },
): DiscoveryHandlers {
  return {
    discovery: createDiscoveryList(directory, writer),
    announce: answer(ENDPOINTS.announce, ({ body, source }) => directory.announce(body, source)),
  }
}

/** The handler of `GET /discovery`, with its own cache. */
export function createDiscoveryList(directory: Pick<RelayDirectory, 'prepare'>, writer: BodyWriter): Handler {
  let make: ((isWhole: boolean) => DiscoveryResponse) | undefined
  const cache = new ListCache((query) => make?.(query === ''))
  return async (request, response) => {
    const query = request.url?.endsWith(`?${ONLY_OWN_DESCRIPTOR}`) ? ONLY_OWN_DESCRIPTOR : ''
    make = await directory.prepare()
    await sendList(writer, request, response, cache.take(query), false)
  }
}
