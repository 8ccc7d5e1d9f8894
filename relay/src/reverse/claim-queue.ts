// The visitors of one lease that wait for a session, in their order; those of a source that has its share come last.

import { WAITING_CLAIMS_MAX, WAITING_CLAIMS_PER_NETWORK_MAX } from '../limits.ts'
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
  readonly #normalPriority = new Set<Settle>()
  readonly #lowPriority = new Set<Settle>()
  /** By network; only of those that wait. */
  readonly #perNetwork = new Map<string, number>()

  get size(): number {
    return this.#normalPriority.size + this.#lowPriority.size
  }

  /** @returns undefined when there is no room, when no session came in time, or the visitor has gone */
  async wait(
    { network, isLowPriority }: ClaimPriority,
    disconnected: AbortSignal,
    timeoutMs: number,
  ): Promise<ClaimedSession | undefined> {
    if (!this.#makeRoom(isLowPriority) || !this.#count(network, 1)) return undefined
    const queue = isLowPriority ? this.#lowPriority : this.#normalPriority
    return await new Promise((resolve) => {
      const settle: Settle = (claimed) => {
        queue.delete(settle)
        this.#count(network, -1)
        clearTimeout(timeout)
        disconnected.removeEventListener('abort', giveUp)
        resolve(claimed)
      }
      const giveUp = () => settle(undefined)
      const timeout = setTimeout(giveUp, timeoutMs)
      disconnected.addEventListener('abort', giveUp)
      queue.add(settle)
    })
  }

  /** Gives a session to whoever is next. @returns false when nobody waits */
  fulfil(claimed: ClaimedSession): boolean {
    const [settle] = this.#normalPriority.size > 0 ? this.#normalPriority : this.#lowPriority
    settle?.(claimed)
    return settle !== undefined
  }

  rejectAll(): void {
    for (const settle of [...this.#normalPriority, ...this.#lowPriority]) settle(undefined)
  }

  #makeRoom(isLowPriority: boolean): boolean {
    if (this.size < WAITING_CLAIMS_MAX) return true
    const [displaced] = isLowPriority ? [] : this.#lowPriority
    displaced?.(undefined)
    return displaced !== undefined
  }

  /** @returns false, and counts nothing, when the source has as many as it may */
  #count(network: string | undefined, delta: 1 | -1): boolean {
    if (network === undefined) return true
    const count = (this.#perNetwork.get(network) ?? 0) + delta
    if (count > WAITING_CLAIMS_PER_NETWORK_MAX) return false
    if (count === 0) this.#perNetwork.delete(network)
    else this.#perNetwork.set(network, count)
    return true
  }
}
