// The visitors of one lease that wait for a session, in their order; those of a source that has its share come last.

import { WAITING_CLAIMS_MAX, WAITING_CLAIMS_PER_SOURCE_MAX } from '../limits.ts'
import type { ClaimedSession } from './ready-queue.ts'

/** Who waits. */
export interface ClaimPriority {
  /** Network of the visitor's address; undefined when it stands for many clients. */
  network: string | undefined
  /** The source has its share of the lease's visitors already: others go first. */
  isLowPriority: boolean
}

type Settle = (claimed: ClaimedSession | undefined) => void

export class ClaimQueue {
  readonly #first = new Set<Settle>()
  readonly #last = new Set<Settle>()
  /** By network; only of those that wait. */
  readonly #perSource = new Map<string, number>()

  get size(): number {
    return this.#first.size + this.#last.size
  }

  /** @returns undefined when there is no room, when no session came in time, or the visitor has gone */
  async wait(
    { network, isLowPriority }: ClaimPriority,
    gone: AbortSignal,
    timeoutMs: number,
  ): Promise<ClaimedSession | undefined> {
    if (!this.#makesRoom(isLowPriority) || !this.#count(network, 1)) return undefined
    const line = isLowPriority ? this.#last : this.#first
    return await new Promise((resolve) => {
      const settle: Settle = (claimed) => {
        line.delete(settle)
        this.#count(network, -1)
        clearTimeout(timeout)
        gone.removeEventListener('abort', giveUp)
        resolve(claimed)
      }
      const giveUp = () => settle(undefined)
      const timeout = setTimeout(giveUp, timeoutMs)
      gone.addEventListener('abort', giveUp)
      line.add(settle)
    })
  }

  /** Gives a session to whoever is next. @returns false when nobody waits */
  give(claimed: ClaimedSession): boolean {
    const [settle] = this.#first.size > 0 ? this.#first : this.#last
    settle?.(claimed)
    return settle !== undefined
  }

  rejectAll(): void {
    for (const settle of [...this.#first, ...this.#last]) settle(undefined)
  }

  #makesRoom(isLowPriority: boolean): boolean {
    if (this.size < WAITING_CLAIMS_MAX) return true
    const [displaced] = isLowPriority ? [] : this.#last
    displaced?.(undefined)
    return displaced !== undefined
  }

  /** @returns false, and counts nothing, when the source has as many as it may */
  #count(network: string | undefined, more: 1 | -1): boolean {
    if (network === undefined) return true
    const count = (this.#perSource.get(network) ?? 0) + more
    if (count > WAITING_CLAIMS_PER_SOURCE_MAX) return false
    if (count === 0) this.#perSource.delete(network)
    else this.#perSource.set(network, count)
    return true
  }
}
