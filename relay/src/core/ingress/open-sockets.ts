// Tracks the external sockets of a process, so that it can wait for their end and then close them.

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** Time for the last responses and close frames to leave. */
export const CLOSE_GRACE_MS = 1_000

export class OpenSockets {
  readonly #open = new Set<Socket>()

  track(socket: Socket): void {
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
  }

  /** Resolves when the sockets that are open now have closed, after {@link CLOSE_GRACE_MS}, or when `hurry` aborts. */
  async closedOrLate(hurry?: AbortSignal): Promise<void> {
    const closed = Array.from(this.#open, (socket) => once(socket, 'close', { signal: hurry }))
    // The timer alone does not keep the process alive.
    const late = setTimeout(CLOSE_GRACE_MS, undefined, { signal: hurry, ref: false }).catch(() => {})
    await Promise.race([Promise.allSettled(closed), late])
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy()
  }
}
