// Parses routes and prices of the command line, and makes the options of `paid`.

import { dirname, join } from 'node:path'
import { SvcError } from '@svc/sdk-core'
import type { PaidOptions, PaidRoute } from '@svc/sdk-core/handlers'
import { openPaymentJournal } from '../../payment/journal-file.ts'
import type { SiteOptions } from '../options/parsed-command.ts'

/** A PricedRoute is one `--route`, or one of `routes` in the config file. */
export interface PricedRoute {
  place: string
  target: string
  prices: readonly Pick<PaidRoute, 'methods' | 'amount'>[]
}

/** The name for a facilitator in this process. */
const SELF = 'self'
/** A price after the target: methods or `*`, and an amount or `free`. There may be several. */
const PRICE = /^(.*\S)\s+([A-Za-z,]+|\*):(\S+)$/

/**
 * @param text `PLACE=TARGET`, followed by any number of `METHODS:AMOUNT`
 * @throws SvcError `invalid_option`
 */
export function parseRoute(text: string): PricedRoute {
  const at = text.indexOf('=')
  if (at <= 0) throw new SvcError('invalid_option', `--route ${JSON.stringify(text)} is not PLACE=TARGET`)
  const place = text.slice(0, at)
  const prices: PricedRoute['prices'][number][] = []
  let target = text.slice(at + 1)
  for (let price = PRICE.exec(target); price !== null; price = PRICE.exec(target)) {
    const [, rest = '', methods = '', amount = ''] = price
    prices.unshift({ amount, ...(methods !== '*' && { methods: methods.split(',') }) })
    target = rest
  }
  if (prices.length > 0 && !place.startsWith('/'))
    throw new SvcError(
      'invalid_option',
      `--route ${JSON.stringify(text)}: a price goes with a path at every host`,
    )
  return { place, target, prices }
}

/** @returns undefined when nothing has a price */
export async function paidOptions(
  routes: readonly PricedRoute[],
  { x402PayTo, x402Network, x402Facilitator, x402Endpoints, identityPath }: SiteOptions,
): Promise<PaidOptions | undefined> {
  const priced = routes.flatMap(({ place: path, prices }) => prices.map((price) => ({ path, ...price })))
  if (priced.length === 0) {
    if ([x402PayTo, x402Network, x402Facilitator, x402Endpoints].some((option) => option !== undefined))
      throw new SvcError('invalid_option', 'nothing has a price: --route "/path=target GET:0.01" sets one')
    return undefined
  }
  if (x402PayTo === undefined)
    throw new SvcError(
      'invalid_option',
      '--x402-pay-to is missing (x402_pay_to in svc.toml): the address that receives payments',
    )
  if (x402Endpoints !== undefined && x402Facilitator !== SELF)
    throw new SvcError(
      'invalid_option',
      '--x402-endpoints (x402_endpoints in svc.toml) goes with the facilitator self',
    )
  const terms = { payTo: x402PayTo, network: x402Network, routes: priced }
  if (x402Facilitator !== SELF) return { ...terms, facilitator: x402Facilitator }
  const { createFacilitator } = await import('@svc/payment')
  const network = x402Network ?? 'sui:mainnet'
  const journal = await openPaymentJournal(
    join(dirname(identityPath), `payments-${network.replace(':', '-')}.jsonl`),
  )
  return {
    ...terms,
    facilitator: await createFacilitator({ network, payTo: x402PayTo, journal, endpoints: x402Endpoints }),
  }
}
