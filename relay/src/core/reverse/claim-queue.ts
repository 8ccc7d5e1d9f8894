// Queues the visitors of one lease that wait for a session. Visitors of a network that has reached its share come last.

import { NetworkCounts } from '../rate-limit/fair-share.ts'
import type { ClaimedSession } from './pending-visitor.ts'

/** Visitors of one lease that may wait for a ready session at once. */
const WAITING_CLAIMS_MAX = 1024
/** The same from one network. The relay closes any further one at once. */
const WAITING_CLAIMS_PER_NETWORK_MAX = 256

/** How a waiting visitor ranks. */
export interface ClaimPriority {
  /** Network of the visitor's address; undefined when the address stands for many clients. */
  network: string | undefined
  /** Whether the network has reached its share of the lease's visitors, so that others go first. */
  isLowPriority: boolean
  /** Whether another machine forwarded the visitor, which then goes to no further one. @default false */
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
  readonly #perNetwork = new NetworkCounts()

  get size(): number {
    return this.#normalPriority.size + this.#lowPriority.size
  }

  /** @returns undefined when there is no room, no session came within `timeoutMs`, or the visitor disconnected */
  async wait(
    { network, isLowPriority, staysHere = false }: ClaimPriority,
    disconnected: AbortSignal,
    timeoutMs: number,
  ): Promise<ClaimedSession | undefined> {
    if (!this.#mayWait(network) || !this.#makeRoom(isLowPriority)) return undefined
    this.#count(network, 1)
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

  /** @returns whether the network has fewer waiting visitors than it may */
  #mayWait(network: string | undefined): boolean {
    if (network === undefined) return true
    const free = WAITING_CLAIMS_MAX - this.size
    return (
      this.#perNetwork.of(network) < WAITING_CLAIMS_PER_NETWORK_MAX &&
      this.#perNetwork.mayHave(1, network, free, WAITING_CLAIMS_MAX)
    )
  }

  #count(network: string | undefined, delta: 1 | -1): void {
    if (network !== undefined) this.#perNetwork.add(network, delta)
  }
}
