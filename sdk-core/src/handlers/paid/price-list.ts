// The price list of a site: which requests have to be paid, and how much.

import type { PaymentRequirements } from '@svc/payment/client'
import { meaningsOf } from './spellings.ts'

/** A Price is one route of the options, checked. */
export interface Price {
  /** The path in the spelling of `meaningOf`: empty for all paths. It holds for what is below it, too. */
  readonly path: string
  /** Upper case; undefined for every method. GET includes HEAD. */
  readonly methods: ReadonlySet<string> | undefined
  readonly requirements: PaymentRequirements
  /** The amount as the options have it, for people. */
  readonly amount: string
  readonly description: string | undefined
}

/** Fields by which some frameworks let a client replace the method of its request. */
const OVERRIDES = ['x-http-method', 'x-http-method-override', 'x-method-override']

/** `unclear` is a path that may mean so many things that it is refused. */
export type Found = Price | 'free' | 'unclear'

export class PriceList {
  readonly #prices: readonly Price[]

  constructor(prices: readonly Price[]) {
    this.#prices = prices.toSorted((a, b) => b.path.length - a.path.length)
  }

  /**
   * The longest path wins. A path that may mean several things costs what the dearest of them does.
   * @param field returns a field of the request
   */
  find(pathname: string, method: string, field: (name: string) => string | null | undefined): Found {
    const meanings = meaningsOf(pathname)
    if (meanings === undefined) return 'unclear'
    const methods = [method, ...OVERRIDES.map((name) => field(name) ?? '')].map((name) => name.toUpperCase())
    const found = [...meanings].flatMap((meaning) =>
      methods.flatMap((name) => this.#priceOf(meaning, name) ?? []),
    )
    return found.reduce<Found>((dearest, price) => (costsMore(price, dearest) ? price : dearest), 'free')
  }

  #priceOf(path: string, method: string): Price | undefined {
    if (method === '') return undefined
    return this.#prices.find(
      (price) => isBelow(path, price.path) && (price.methods === undefined || price.methods.has(method)),
    )
  }
}

function costsMore({ requirements }: Price, other: Found): boolean {
  return typeof other === 'string' || BigInt(requirements.amount) > BigInt(other.requirements.amount)
}

/** `/paid` takes `/paid` and all paths below `/paid/`, but not `/paids`. */
function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')
}
