// Defines how requests that the stored files do not answer reach the live site.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Duplex } from 'node:stream'
import type { Lease } from '../../../core/lease/lease.ts'

/** A request of a visitor whose TLS the relay has ended. */
export type VisitorRequest = IncomingMessage | Http2ServerRequest
export type VisitorResponse = ServerResponse | Http2ServerResponse

export interface LiveSites {
  /**
   * Passes a request on to the site, and the site's response to the visitor.
   * @param clientIp client address; undefined for a trusted proxy that named no client
   * @returns false when no session of the site came: then nothing was read from the request or sent
   */
  forward(
    request: VisitorRequest,
    response: VisitorResponse,
    lease: Lease,
    clientIp: string | undefined,
  ): Promise<boolean>
  /**
   * Forwards an upgrade request to the site, and then the bytes of both sides.
   * @param head first bytes after the request
   * @returns false as for {@link LiveSites.forward}
   */
  upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    lease: Lease,
    clientIp: string | undefined,
  ): Promise<boolean>
  close(): Promise<void>
}
