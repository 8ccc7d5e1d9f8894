// The ready queue of each lease.

import type { Lease } from '../lease/lease.ts'
import { ReadyQueue } from './ready-queue.ts'

const queues = new WeakMap<Lease, ReadyQueue>()

/** Creates the queue at first use. It lives as long as its lease. */
export function readyQueueOf(lease: Lease): ReadyQueue {
  const known = queues.get(lease)
  if (known !== undefined) return known
  const queue = new ReadyQueue()
  queues.set(lease, queue)
  lease.attachSessions(queue)
  return queue
}

/** The number of reverse sessions of these leases at this machine that wait for a visitor. */
export function countReadySessions(leases: Iterable<Lease>): number {
  let ready = 0
  for (const lease of leases) ready += queues.get(lease)?.sizeHere ?? 0
  return ready
}
