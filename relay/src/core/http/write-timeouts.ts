// Cuts connections whose client reads nothing, since unsent bytes take the relay's memory.

import type { Socket } from 'node:net'
import { API_DEADLINE_CHECK_MS } from './deadlines.ts'
import { sendQueueSize } from './send-queue-size.ts'

/** When a client reads nothing of a response for this long, the relay cuts its connection. */
export const API_WRITE_DEADLINE_MS = 10_000
/** Minimum number of checks of a connection before the deadline. */
const CHECKS_MIN = 5

interface Watched {
  /** Bytes that the kernel has accepted from this process. */
  accepted: number
  /** Bytes in the kernel's send queue; undefined if unknown. */
  queued: number | undefined
  /** Time of the last change of both, in milliseconds of the monotonic clock. */
  since: number
  cut: () => void
}

export class WriteTimeouts {
  readonly #deadlineMs: number
  readonly #checkMs: number
  readonly #watched = new Map<Socket, Watched>()
  #timer: NodeJS.Timeout | undefined
  #isChecking = false

  /** @param deadlineMs how long a client may read nothing */
  constructor(deadlineMs: number = API_WRITE_DEADLINE_MS) {
    this.#deadlineMs = deadlineMs
    this.#checkMs = Math.min(API_DEADLINE_CHECK_MS, deadlineMs / CHECKS_MIN)
  }

  /** Watches a connection until it closes or is forgotten. @param cut ends the connection */
  watch(connection: Socket, cut: () => void): void {
    this.#watched.set(connection, { accepted: 0, queued: undefined, since: performance.now(), cut })
    connection.once('close', () => this.forget(connection))
    this.#timer ??= setInterval(() => void this.#check(), this.#checkMs).unref()
  }

  forget(connection: Socket): void {
    this.#watched.delete(connection)
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    const still = [...this.#watched].filter(([connection, watched]) => isStill(connection, watched))
    const queues = await sendQueueSize(still.map(([connection]) => connection))
    this.#isChecking = false
    for (const [connection, watched] of still) {
      if (noteQueue(watched, queues.get(connection))) continue
      if (performance.now() - watched.since >= this.#deadlineMs) watched.cut()
    }
  }
}

/** Whether bytes wait, and the kernel has accepted none since the last check. */
function isStill({ writableLength, bytesWritten }: Socket, watched: Watched): boolean {
  const accepted = bytesWritten - writableLength
  if (writableLength > 0 && accepted === watched.accepted) return true
  watched.accepted = accepted
  watched.queued = undefined
  watched.since = performance.now()
  return false
}

/** @returns whether the kernel's send queue has changed since the last check */
function noteQueue(watched: Watched, queued: number | undefined): boolean {
  // The kernel's table is not read atomically, so that a connection may sometimes be missing.
  if (queued === undefined) return false
  const isFirst = watched.queued === undefined
  const hasMoved = queued !== watched.queued
  watched.queued = queued
  if (isFirst || !hasMoved) return false
  watched.since = performance.now()
  return true
}
