// The keepalives of ready sessions: each at its own interval, and of those that are due together a few at a time.

import type { Duplex } from 'node:stream'
import { KEEPALIVE_INTERVAL_MS } from '@svc/protocol'
import { KEEPALIVES_PER_TICK } from '../limits.ts'
import { writeKeepalive } from './marker.ts'

/**
 * Sessions of all leases whose keepalive is due. Those that came together, as after a restart, are due together: ten
 * thousand writes to TLS sockets in one turn of the event loop would hold up everybody for 120 to 240 ms.
 */
const due = new Set<Duplex>()

/** @returns what ends it: no keepalive is written from then on */
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
