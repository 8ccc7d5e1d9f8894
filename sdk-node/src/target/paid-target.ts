// Puts prices on paths of a target. The facilitator is found when the site starts, so that a wrong one is no visitor's surprise.

import type { DirectlyHandled, FetchFunction, FetchHandler } from '@svc/sdk-core'
import { type PaidOptions, paid, relayFacilitator } from '@svc/sdk-core/handlers'

/**
 * @param relay the one whose facilitator is taken when the options name none
 * @param fetch asks it
 * @throws SvcError `invalid_option`, or `payments_unavailable` when that relay takes no payments for the site
 */
export async function paidTarget(
  target: DirectlyHandled,
  options: PaidOptions,
  relay: URL,
  fetch: FetchFunction,
): Promise<FetchHandler> {
  const { facilitator, payTo, network } = options
  if (facilitator !== undefined) return paid(target, options)
  // wrong options come before a question to the relay
  paid(target, options)
  return paid(target, { ...options, facilitator: await relayFacilitator(relay, { payTo, network, fetch }) })
}
