// Connections whose client takes nothing of what is written to them are cut: what waits for them is the relay's memory.

import type { Socket } from 'node:net'
import { API_DEADLINE_CHECK_MS, API_WRITE_DEADLINE_MS } from '../../limits.ts'
import { sendQueueSize } from './send-queue-size.ts'

interface Watched {
  /** Bytes that the kernel has taken. */
  taken: number
  /** Bytes that the kernel keeps for the client; undefined where nobody knows. */
  kept: number | undefined
  /** Since when both are so, in milliseconds of the monotonic clock. */
  since: number
  cut: () => void
}

export class WriteTimeouts {
  readonly #watched = new Map<Socket, Watched>()
  #timer: NodeJS.Timeout | undefined
  #isLooking = false

  /** Until it is closed, or forgotten. @param cut ends the connection */
  watch(connection: Socket, cut: () => void): void {
    this.#watched.set(connection, { taken: 0, kept: undefined, since: performance.now(), cut })
    connection.once('close', () => this.forget(connection))
    this.#timer ??= setInterval(() => void this.#look(), API_DEADLINE_CHECK_MS).unref()
  }

  forget(connection: Socket): void {
    this.#watched.delete(connection)
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    const still = [...this.#watched].filter(([connection, watched]) => isStill(connection, watched))
    const queues = await sendQueueSize(still.map(([connection]) => connection))
    this.#isLooking = false
    for (const [connection, watched] of still) {
      if (noteQueue(watched, queues.get(connection))) continue
      if (performance.now() - watched.since >= API_WRITE_DEADLINE_MS) watched.cut()
    }
  }
}

/** Whether something waits, and the kernel has taken nothing since the last look. */
function isStill({ writableLength, bytesWritten }: Socket, watched: Watched): boolean {
  const taken = bytesWritten - writableLength
  if (writableLength > 0 && taken === watched.taken) return true
  watched.taken = taken
  watched.kept = undefined
  watched.since = performance.now()
  return false
}

/** @returns whether the client has taken something of what the kernel keeps since the last look */
function noteQueue(watched: Watched, kept: number | undefined): boolean {
  // The kernel's table is not read in one go: now and then a connection is missing, which says nothing of it.
  if (kept === undefined) return false
  const isFirst = watched.kept === undefined
  const hasMoved = kept !== watched.kept
  watched.kept = kept
  if (isFirst || !hasMoved) return false
  watched.since = performance.now()
  return true
}
