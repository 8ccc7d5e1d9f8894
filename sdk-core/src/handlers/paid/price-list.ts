// The price list of a site: which requests cost money, and how much.

import type { PaymentRequirements } from '@svc/payment/client'
import type { Field } from '../../semantics/fields.ts'
import { isBelow, meaningsOf } from './path-variants.ts'
import { isMethodField, mayOverride, pathsOf } from './substitutes.ts'

/** A Price is what one request costs. */
export interface Price {
  readonly requirements: PaymentRequirements
  /** The amount as written in the options, for people. */
  readonly amount: string
  readonly description: string | undefined
}

/** A PricedRoute is one route of the options, checked. */
export interface PricedRoute {
  /** The path, normalized by `meaningOf`: empty for all paths. It includes the paths below it. */
  readonly path: string
  /** Upper case; undefined for every method. GET includes HEAD. */
  readonly methods: ReadonlySet<string> | undefined
  readonly price: Price | 'free'
}

/** `unclear` is a path with so many meanings that it is refused. */
export type Found = Price | 'free' | 'unclear'

/** The parts of a request that decide its price. */
export interface Asked {
  readonly method: string
  readonly url: Pick<URL, 'pathname' | 'search'>
  readonly fields: Iterable<Field>
}

export class PriceList {
  /** The routes of each path, the longest path first. */
  readonly #levels: readonly (readonly [path: string, routes: readonly PricedRoute[]])[]

  constructor(routes: readonly PricedRoute[]) {
    const levels = Map.groupBy(routes, ({ path }) => path)
    this.#levels = [...levels].toSorted(([one], [other]) => other.length - one.length)
  }

  /**
   * @returns the highest price of all that the request may mean: by the spelling of its path, by a field that names another path, and
   *   by a field or a query that names another method
   */
  find({ method, url, fields }: Asked): Found {
    const asked = [...fields]
    const isAny = asked.some(([name]) => isMethodField(name)) || mayOverride(url.search)
    return this.#dearest(url, asked, isAny ? undefined : method)
  }

  /** @returns the price of the request with the dearest method, because its content may name another method */
  findDearest({ url, fields }: Asked): Found {
    return this.#dearest(url, [...fields], undefined)
  }

  #dearest(url: Asked['url'], fields: Field[], method: string | undefined): Found {
    let dearest: Found = 'free'
    for (const path of [url.pathname, ...pathsOf(fields)]) {
      const meanings = meaningsOf(path)
      if (meanings === undefined) return 'unclear'
      for (const meaning of meanings) dearest = dearer(dearest, this.#priceAt(meaning, method))
    }
    return dearest
  }

  /** @param method undefined for the dearest one */
  #priceAt(path: string, method: string | undefined): Price | 'free' {
    const routes = this.#levels.filter(([prefix]) => isBelow(path, prefix)).map(([, some]) => some)
    if (method !== undefined) return priceOf(routes, method)
    const named = new Set(routes.flat().flatMap(({ methods }) => [...(methods ?? [])]))
    return ['', ...named].map((name) => priceOf(routes, name)).reduce(dearer, 'free')
  }
}

/** The longest path that names the method decides. A path that does not name it costs at least its own highest price. */
function priceOf(levels: readonly (readonly PricedRoute[])[], method: string): Price | 'free' {
  let dearest: Price | 'free' = 'free'
  for (const routes of levels) {
    const named = routes.find(({ methods }) => methods === undefined || methods.has(method))
    if (named) return dearer(dearest, named.price)
    dearest = routes.map(({ price }) => price).reduce(dearer, dearest)
  }
  return dearest
}

function dearer(one: Price | 'free', other: Price | 'free'): Price | 'free' {
  if (one === 'free' || other === 'free') return one === 'free' ? other : one
  return BigInt(other.requirements.amount) > BigInt(one.requirements.amount) ? other : one
}
