// Queues the visitors of one lease that wait for a session. Visitors of a network that has its share come last.

import { WAITING_CLAIMS_MAX, WAITING_CLAIMS_PER_NETWORK_MAX } from '../limits.ts'
import type { ClaimedSession } from './ready-queue.ts'

/** Tells how a waiting visitor ranks. */
export interface ClaimPriority {
  /** Network of the visitor's address; undefined when the address stands for many clients. */
  network: string | undefined
  /** Whether the network has its share of the lease's visitors already, so that others go first. */
  isLowPriority: boolean
  /** Whether the visitor came from another machine, and goes to none. @default false */
  staysHere?: boolean
}

interface Waiting {
  settle: (claimed: ClaimedSession | undefined) => void
  staysHere: boolean
}

export class ClaimQueue {
  readonly #normalPriority = new Set<Waiting>()
  readonly #lowPriority = new Set<Waiting>()
  /** Number of waiting visitors by network. */
  readonly #perNetwork = new Map<string, number>()

  get size(): number {
    return this.#normalPriority.size + this.#lowPriority.size
  }

  /** @returns undefined when there is no room, no session came within `timeoutMs`, or the visitor disconnected */
  async wait(
    { network, isLowPriority, staysHere = false }: ClaimPriority,
    disconnected: AbortSignal,
    timeoutMs: number,
  ): Promise<ClaimedSession | undefined> {
    if (!this.#makeRoom(isLowPriority) || !this.#count(network, 1)) return undefined
    const queue = isLowPriority ? this.#lowPriority : this.#normalPriority
    return await new Promise((resolve) => {
      const settle: Waiting['settle'] = (claimed) => {
        queue.delete(waiting)
        this.#count(network, -1)
        clearTimeout(timeout)
        disconnected.removeEventListener('abort', giveUp)
        resolve(claimed)
      }
      const giveUp = () => settle(undefined)
      const timeout = setTimeout(giveUp, timeoutMs)
      disconnected.addEventListener('abort', giveUp)
      const waiting = { settle, staysHere }
      queue.add(waiting)
    })
  }

  /** Gives a session to the next visitor. @returns false when no visitor waits */
  fulfil(claimed: ClaimedSession): boolean {
    const isMachine = 'isMachine' in claimed && claimed.isMachine === true
    for (const queue of [this.#normalPriority, this.#lowPriority])
      for (const { settle, staysHere } of queue) {
        if (isMachine && staysHere) continue
        settle(claimed)
        return true
      }
    return false
  }

  rejectAll(): void {
    for (const { settle } of [...this.#normalPriority, ...this.#lowPriority]) settle(undefined)
  }

  #makeRoom(isLowPriority: boolean): boolean {
    if (this.size < WAITING_CLAIMS_MAX) return true
    const [displaced] = isLowPriority ? [] : this.#lowPriority
    displaced?.settle(undefined)
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
