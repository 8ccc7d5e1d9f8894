// Remembers which payments bought a response, so that none buys a second one. A process has one such memory.

import type { SettleResponse } from '@svc/payment/client'
import { REMEMBERED_MAX, SALES_AT_ONCE, USED_FOR_MS } from './limits.ts'

/**
 * A payment is `busy` while a request with it is in progress. It is `owed` when it was settled, or may have been, and its payer
 * has no response yet. It is `served` when it bought its response. An unknown payment is free.
 */
type State = 'busy' | 'owed' | 'served'

interface Used {
  state: State
  /** The URL of what it pays for. */
  resource: string
  settlement: SettleResponse | undefined
  /** The time of `performance.now()` from which it may be forgotten. */
  until: number
}

/** The reason why a payment cannot be used now. */
export type Refused =
  | { reason: 'busy' | 'full' | 'other_resource' }
  | { reason: 'used'; settlement: SettleResponse | undefined }

export class UsedPayments {
  /** By the hash of the transaction, and by its digest on the chain; the first to be forgotten come first. */
  readonly #used = new Map<string, Used>()
  readonly #max: number
  readonly #maxBusy: number
  #busy = 0

  constructor(max: number = REMEMBERED_MAX, maxBusy: number = SALES_AT_ONCE) {
    this.#max = max
    this.#maxBusy = maxBusy
  }

  /** Reserves a payment for one request, until the {@link Claim} ends. */
  claim(key: string, resource: string): Claim | Refused {
    this.#forget()
    const known = this.#used.get(key)
    if (known?.state === 'busy') return { reason: 'busy' }
    if (known?.state === 'served') return { reason: 'used', settlement: known.settlement }
    if (known !== undefined && known.resource !== resource) return { reason: 'other_resource' }
    if (this.#busy >= this.#maxBusy || (known === undefined && this.#used.size >= this.#max))
      return { reason: 'full' }
    this.#busy += 1
    const settlement = known?.settlement
    this.#put(key, { state: 'busy', resource, settlement })
    return new Claim(known !== undefined, settlement, {
      // Another encoding of the same transaction has another hash.
      isFirst: (name, settlement) => {
        if (this.#used.has(name)) return false
        this.#put(name, { state: 'served', resource, settlement })
        return true
      },
      end: (state, settlement) => {
        this.#busy -= 1
        this.#used.delete(key)
        if (state === undefined) return
        this.#put(key, { state, resource, settlement })
      },
    })
  }

  #put(key: string, used: Omit<Used, 'until'>): void {
    this.#used.delete(key)
    this.#used.set(key, { ...used, until: performance.now() + USED_FOR_MS })
  }

  #forget(): void {
    const now = performance.now()
    for (const [key, { state, until }] of this.#used) {
      if (until > now) return
      if (state !== 'busy') this.#used.delete(key)
    }
  }
}

interface Memory {
  /** @returns whether this is the first payment of the name that is served; it is remembered at once */
  isFirst(name: string, settlement: SettleResponse): boolean
  end(state: 'owed' | 'served' | undefined, settlement: SettleResponse | undefined): void
}

/** A Claim is the use of a payment by one request. Its final state is remembered. */
export class Claim {
  readonly #memory: Memory
  #state: 'owed' | 'served' | undefined
  #settlement: SettleResponse | undefined

  constructor(isOwed: boolean, settlement: SettleResponse | undefined, memory: Memory) {
    this.#state = isOwed ? 'owed' : undefined
    this.#settlement = settlement
    this.#memory = memory
  }

  /** True when the payment was settled, or may have been, for a response that its payer did not get. */
  get isOwed(): boolean {
    return this.#state === 'owed'
  }

  /** The settlement, once it is known. */
  get settlement(): SettleResponse | undefined {
    return this.#settlement
  }

  /** Frees the payment, which was not settled. */
  release(): void {
    this.#state = undefined
  }

  /** @param settlement undefined while it is unknown whether the payment was settled */
  owe(settlement: SettleResponse | undefined): void {
    this.#state = 'owed'
    this.#settlement = settlement
  }

  /** @returns false when the transaction has already bought a response, in another encoding */
  serve(): boolean {
    this.#state = 'served'
    return this.#settlement !== undefined && this.#memory.isFirst(nameOf(this.#settlement), this.#settlement)
  }

  end(): void {
    this.#memory.end(this.#state, this.#settlement)
  }
}

/** Returns the name of a transaction on its chain. It has a space, which hashes, the other keys, have not. */
function nameOf({ network, transaction }: SettleResponse): string {
  return `${network} ${transaction}`
}
