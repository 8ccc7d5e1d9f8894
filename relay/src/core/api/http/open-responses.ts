// Answers the requests of a connection one after the other, and limits those that wait; an upgrade allows none.

import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { RelayError } from '../../errors.ts'

/** Requests of one connection that may wait for their responses. */
export const PIPELINED_REQUESTS_MAX = 16

/** The unsent responses of a connection, the oldest first, each with what starts it. */
const openResponses = new WeakMap<Duplex, Map<ServerResponse, () => void>>()

/**
 * Calls `answer` once the responses to earlier requests of the connection have been sent, so that a client that reads
 * nothing costs the work of one response. While a request waits, no more of its body, and no more requests, are read.
 * @returns whether the connection may have one more; if not, `answer` is not called
 */
export function answerInTurn(connection: Duplex, response: ServerResponse, answer: () => void): boolean {
  const open = openResponses.get(connection) ?? new Map<ServerResponse, () => void>()
  if (open.size >= PIPELINED_REQUESTS_MAX) return false
  openResponses.set(connection, open.set(response, answer))
  response.once('close', () => {
    const wasFirst = firstOf(open) === response
    open.delete(response)
    if (open.size === 1) connection.resume()
    const next = firstOf(open)
    if (wasFirst && next !== undefined && !next.destroyed && !connection.destroyed) open.get(next)?.()
  })
  if (open.size === 1) answer()
  else connection.pause()
  return true
}

/** @throws RelayError `hijack_unsupported`, since an earlier response would be written into the session */
export function requireNoOpenResponse(connection: Duplex): void {
  const open = openResponses.get(connection)
  if (open === undefined || open.size === 0) return
  // After an upgrade, Node no longer ends the queued responses when the connection closes.
  connection.once('close', () => {
    for (const response of open.keys()) response.destroy()
  })
  throw new RelayError('hijack_unsupported', 'an earlier request on the connection has no response yet')
}

function firstOf(open: ReadonlyMap<ServerResponse, unknown>): ServerResponse | undefined {
  return open.keys().next().value
}
