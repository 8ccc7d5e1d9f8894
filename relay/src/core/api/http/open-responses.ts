// Limits the unsent responses of a connection; an upgrade allows none.

import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { RelayError } from '../../errors.ts'

/** Requests of one connection that may wait for their responses. */
export const PIPELINED_REQUESTS_MAX = 16

/** The unsent responses of a connection, queued ones included. */
const openResponses = new WeakMap<Duplex, Set<ServerResponse>>()

/** Counts an open request. @returns whether the connection may have one more */
export function countRequest(connection: Duplex, response: ServerResponse): boolean {
  const open = openResponses.get(connection) ?? new Set()
  open.add(response)
  openResponses.set(connection, open)
  response.once('close', () => open.delete(response))
  return open.size <= PIPELINED_REQUESTS_MAX
}

/** @throws RelayError `hijack_unsupported`, since an earlier response would be written into the session */
export function requireNoOpenResponse(connection: Duplex): void {
  const open = openResponses.get(connection)
  if (open === undefined || open.size === 0) return
  // After an upgrade, Node no longer ends the queued responses when the connection closes.
  connection.once('close', () => {
    for (const response of open) response.destroy()
  })
  throw new RelayError('hijack_unsupported', 'an earlier request on the connection has no response yet')
}
