// Remembers which payments bought a response, so that none buys a second one. One memory serves a whole process.

import type { SettleResponse } from '@svc/payment/client'
import { REMEMBERED_MAX, SALES_AT_ONCE, USED_FOR_MS } from './limits.ts'

/**
 * A payment is `busy` while a request is on its way with it. It is `owed` when it was carried out, or may have been, and its payer
 * has no response yet. It is `served` when it bought its response. A payment that is not remembered is free.
 */
type State = 'busy' | 'owed' | 'served'

interface Used {
  state: State
  /** The address of what it pays. */
  resource: string
  settlement: SettleResponse | undefined
  /** A time of `performance.now()` from which it may be forgotten. */
  until: number
}

/** The reason for which a payment cannot be used at this time. */
export type Refused =
  | { reason: 'busy' | 'full' | 'other_resource' }
  | { reason: 'used'; settlement: SettleResponse | undefined }

export class UsedPayments {
  /** By the hash of the transaction, and by what the chain calls it; those that are forgotten first are in front. */
  readonly #used = new Map<string, Used>()
  readonly #max: number
  readonly #maxBusy: number
  #busy = 0

  constructor(max: number = REMEMBERED_MAX, maxBusy: number = SALES_AT_ONCE) {
    this.#max = max
    this.#maxBusy = maxBusy
  }

  /** Takes a payment for one request. No other request gets it until the {@link Claim} ends. */
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
      // another spelling of the same transaction has another hash
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

/** A Claim is the use of a payment by one request. What it is at its end is remembered. */
export class Claim {
  readonly #memory: Memory
  #state: 'owed' | 'served' | undefined
  #settlement: SettleResponse | undefined

  constructor(isOwed: boolean, settlement: SettleResponse | undefined, memory: Memory) {
    this.#state = isOwed ? 'owed' : undefined
    this.#settlement = settlement
    this.#memory = memory
  }

  /** True when the payment was carried out, or may have been, for a response that its payer did not get. */
  get isOwed(): boolean {
    return this.#state === 'owed'
  }

  /** The settlement, once it is known. */
  get settlement(): SettleResponse | undefined {
    return this.#settlement
  }

  /** The payment was not carried out: it is its payer's again. */
  release(): void {
    this.#state = undefined
  }

  /** @param settlement undefined while it is not known whether the payment was carried out */
  owe(settlement: SettleResponse | undefined): void {
    this.#state = 'owed'
    this.#settlement = settlement
  }

  /** @returns false when the transaction bought a response already, in another spelling */
  serve(): boolean {
    this.#state = 'served'
    return this.#settlement !== undefined && this.#memory.isFirst(nameOf(this.#settlement), this.#settlement)
  }

  end(): void {
    this.#memory.end(this.#state, this.#settlement)
  }
}

/** The name of a transaction on its chain; hashes, which are the other keys, have no space. */
function nameOf({ network, transaction }: SettleResponse): string {
  return `${network} ${transaction}`
}
