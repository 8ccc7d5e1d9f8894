// Tells the other machines how many ready sessions this one has of each lease.

import type { Lease } from '../../../core/lease/lease.ts'
import { readyQueueOf } from '../../../core/reverse/ready-queues.ts'
import { SESSION_COUNTS_MS, SESSION_COUNTS_PER_MESSAGE } from '../limits.ts'
import type { SessionCount } from './link-messages.ts'

export class SessionCounts {
  readonly #send: (counts: SessionCount[]) => void
  /** The numbers that the others know, above 0. */
  readonly #sent = new Map<Lease, number>()
  /** Leases whose number may have changed. */
  readonly #changed = new Set<Lease>()
  #soon: NodeJS.Immediate | undefined
  #later: NodeJS.Timeout | undefined

  /** @param send sends a message to all machines */
  constructor(send: (counts: SessionCount[]) => void) {
    this.#send = send
  }

  watch(lease: Lease): void {
    const ready = readyQueueOf(lease)
    ready.spread()
    ready.onChange(() => this.#mark(lease))
  }

  /** All numbers, for a machine that has just connected. */
  *all(): Generator<SessionCount[]> {
    this.#flush()
    const counts = [...this.#sent].map(([lease, ready]) => countOf(lease, ready))
    for (let at = 0; at < counts.length; at += SESSION_COUNTS_PER_MESSAGE)
      yield counts.slice(at, at + SESSION_COUNTS_PER_MESSAGE)
  }

  close(): void {
    clearImmediate(this.#soon)
    clearTimeout(this.#later)
  }

  /**
   * Changes from or to 0 are urgent: elsewhere a visitor may wait for the first session, or be sent here for one that
   * is gone.
   */
  #mark(lease: Lease): void {
    this.#changed.add(lease)
    const isUrgent = readyQueueOf(lease).sizeHere > 0 !== this.#sent.has(lease)
    if (isUrgent) this.#soon ??= setImmediate(() => this.#flush())
    else this.#later ??= setTimeout(() => this.#flush(), SESSION_COUNTS_MS).unref()
  }

  #flush(): void {
    this.close()
    this.#soon = undefined
    this.#later = undefined
    const counts: SessionCount[] = []
    for (const lease of this.#changed) {
      const ready = readyQueueOf(lease).sizeHere
      if (ready === (this.#sent.get(lease) ?? 0)) continue
      if (ready > 0) this.#sent.set(lease, ready)
      else this.#sent.delete(lease)
      // The others also learn when a lease ends.
      if (!lease.ended.aborted) counts.push(countOf(lease, ready))
    }
    this.#changed.clear()
    for (let at = 0; at < counts.length; at += SESSION_COUNTS_PER_MESSAGE)
      this.#send(counts.slice(at, at + SESSION_COUNTS_PER_MESSAGE))
  }
}

function countOf({ identityKey, id }: Lease, ready: number): SessionCount {
  return [identityKey, id, ready]
}
