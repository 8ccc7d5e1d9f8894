// Writes the keepalives of ready sessions, a few at a time when many are due together.

import type { Duplex } from 'node:stream'
import { KEEPALIVE_INTERVAL_MS } from '@svc/protocol'
import { writeKeepalive } from './marker.ts'

/** Keepalives that the relay writes in one turn of the event loop, at some 20 µs each. */
const KEEPALIVES_PER_TICK = 128

/**
 * Sessions of all leases whose keepalive is due. Sessions that opened together, as after a restart, are due together.
 * Ten thousand writes to TLS sockets in one turn of the event loop would delay every visitor for 120 to 240 ms.
 */
const due = new Set<Duplex>()

/** @returns a function that stops the keepalives of `session` */
export function keepAlive(session: Duplex): () => void {
  const timer = setInterval(() => {
    if (due.size === 0) setImmediate(writeDue)
    due.add(session)
  }, KEEPALIVE_INTERVAL_MS)
  return () => {
    clearInterval(timer)
    due.delete(session)
  }
}

function writeDue(): void {
  let remaining = KEEPALIVES_PER_TICK
  for (const session of due) {
    if (remaining === 0) break
    remaining -= 1
    due.delete(session)
    writeKeepalive(session)
  }
  if (due.size > 0) setImmediate(writeDue)
}
