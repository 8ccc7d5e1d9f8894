// Queues the visitors of one lease that wait for a session. Visitors of a network that has its share come last.

import { WAITING_CLAIMS_MAX, WAITING_CLAIMS_PER_NETWORK_MAX } from '../limits.ts'
import type { ClaimedSession } from './ready-queue.ts'

/** Tells how a waiting visitor ranks. */
export interface ClaimPriority {
  /** Network of the visitor's address; undefined when the address stands for many clients. */
  network: string | undefined
  /** Whether the network has its share of the lease's visitors already, so that others go first. */
  isLowPriority: boolean
}

type Settle = (claimed: ClaimedSession | undefined) => void

export class ClaimQueue {
  readonly #normalPriority = new Set<Settle>()
  readonly #lowPriority = new Set<Settle>()
  /** Number of waiting visitors by network. */
  readonly #perNetwork = new Map<string, number>()

  get size(): number {
    return this.#normalPriority.size + this.#lowPriority.size
  }

  /** @returns undefined when there is no room, no session came within `timeoutMs`, or the visitor disconnected */
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

  /** Gives a session to the next visitor. @returns false when no visitor waits */
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

  /** @returns false, without counting, when the network has as many waiting visitors as it may */
  #count(network: string | undefined, delta: 1 | -1): boolean {
    if (network === undefined) return true
    const count = (this.#perNetwork.get(network) ?? 0) + delta
    if (count > WAITING_CLAIMS_PER_NETWORK_MAX) return false
    if (count === 0) this.#perNetwork.delete(network)
    else this.#perNetwork.set(network, count)
    return true
  }
}
