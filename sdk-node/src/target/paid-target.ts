// Puts prices on paths of a target. It finds the facilitator when the site starts, so that errors show then and not to visitors.

import type { DirectlyHandled, FetchFunction, FetchHandler } from '@svc/sdk-core'
import { type PaidOptions, paid, relayFacilitator } from '@svc/sdk-core/handlers'

/**
 * @param relay the relay whose facilitator is used when the options name none
 * @param fetch the `fetch` for requests to it
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
  // Checks the options before asking the relay.
  paid(target, options)
  return paid(target, { ...options, facilitator: await relayFacilitator(relay, { payTo, network, fetch }) })
}
