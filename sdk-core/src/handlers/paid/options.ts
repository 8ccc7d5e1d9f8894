// The options of `paid`, and the price list that is made from them.

import {
  type Facilitator,
  isPaymentAddress,
  MINIMUM_AMOUNT,
  NETWORKS,
  type PaymentNetwork,
  USDC_DECIMALS,
  usdcRequirements,
} from '@svc/payment/client'
import { SvcError } from '../../errors.ts'
import { smallestUnits } from '../../payer/amount.ts'
import { ROUTES_MAX } from './limits.ts'
import { meaningOf } from './path-variants.ts'
import { type PricedRoute, PriceList } from './price-list.ts'

/** A PaidRoute is a path that has a price. */
export interface PaidRoute {
  /** The path, such as `/answer`. It includes all paths below it; `/` is the whole site. The longest path wins. */
  path: string
  /**
   * The methods that have the price, in upper case; GET includes HEAD. A method that no route of the path names costs the highest price
   * of the path.
   * @default every method
   */
  methods?: readonly string[] | undefined
  /**
   * The price in USDC as decimal text, such as `"0.01"`, which is the minimum, with up to 6 decimal places. `"free"` exempts the
   * methods, or paths below one that has a price.
   */
  amount: string
  /**
   * What is sold, in a few words for the payer.
   * @default none
   */
  description?: string | undefined
}

/** PaidOptions are the options of `paid`. */
export interface PaidOptions {
  /** The address that receives payments: `0x` and 64 hexadecimal digits. */
  payTo: string
  /**
   * The network of the payments: `sui:mainnet`, or `sui:testnet`, whose money is worth nothing.
   * @default sui:mainnet
   */
  network?: PaymentNetwork | undefined
  /** The paths that have a price, and exemptions. All other paths are free. */
  routes: readonly PaidRoute[]
  /**
   * The facilitator, which verifies and settles payments: the URL of one, or one in this process.
   * @default the facilitator of the relay at which the site is published
   */
  facilitator?: Facilitator | string | URL | undefined
}

const METHOD = /^[A-Za-z]{1,32}$/
/** The amount that means no price. */
const FREE = 'free'
/** The prefix of the paths that this handler answers itself. */
const OWN_PATHS = '/x402'

/** @throws SvcError `invalid_option` that names the option */
export function parsePrices({ payTo, network = 'sui:mainnet', routes }: PaidOptions): PriceList {
  if (!Object.hasOwn(NETWORKS, network))
    throw invalid(`network has to be ${Object.keys(NETWORKS).join(' or ')}, not ${JSON.stringify(network)}`)
  if (typeof payTo !== 'string' || !isPaymentAddress(payTo))
    throw invalid('payTo has to be an address of the chain: 0x and 64 hexadecimal digits')
  if (!Array.isArray(routes) || routes.length === 0 || routes.length > ROUTES_MAX)
    throw invalid(`routes has to name 1 to ${ROUTES_MAX} paths`)
  const priced: PricedRoute[] = []
  for (const route of routes) {
    const parsed = parseRoute(route, network, payTo)
    if (priced.some((other) => overlap(other, parsed)))
      throw invalid(`${route.path} has two prices for one method`)
    priced.push(parsed)
  }
  if (priced.every(({ price }) => price === FREE)) throw invalid('nothing of routes has a price')
  return new PriceList(priced)
}

function parseRoute(route: PaidRoute, network: PaymentNetwork, payTo: string): PricedRoute {
  const { path, methods, amount, description } = route
  const meaning = typeof path === 'string' ? meaningOf(path) : undefined
  if (meaning === undefined) throw invalid(`not a path to be paid: ${JSON.stringify(path)}`)
  if (meaning === OWN_PATHS || meaning.startsWith(`${OWN_PATHS}/`))
    throw invalid(`${path} has no price: the site answers payers there`)
  if (methods !== undefined && (methods.length === 0 || !methods.every((name) => METHOD.test(name))))
    throw invalid(`the methods of ${path} are not a list of methods`)
  const upper = methods?.map((name) => name.toUpperCase())
  const parsed = {
    path: meaning,
    methods: upper && new Set(upper.includes('GET') ? [...upper, 'HEAD'] : upper),
  }
  if (amount === FREE) return { ...parsed, price: FREE }
  const units = smallestUnits(amount, USDC_DECIMALS)
  if (BigInt(units) < MINIMUM_AMOUNT)
    throw invalid(`the amount of ${path} is less than 0.01, the least that the chain moves without a fee`)
  return { ...parsed, price: { requirements: usdcRequirements(network, payTo, units), amount, description } }
}

function overlap(a: PricedRoute, b: PricedRoute): boolean {
  if (a.path !== b.path) return false
  return (
    a.methods === undefined || b.methods === undefined || [...a.methods].some((name) => b.methods?.has(name))
  )
}

function invalid(message: string): SvcError {
  return new SvcError('invalid_option', message)
}
