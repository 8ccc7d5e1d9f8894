// Finds the facilitator that a relay runs, and checks that it pays the site's owner.

import { type Facilitator, facilitatorAt } from '@svc/payment/client'
import { isRecord } from '../../control/json-checks.ts'
import { type FetchFunction, RelayClient } from '../../control/relay-client.ts'
import { SvcError } from '../../errors.ts'
import { withHiddenResource } from './facilitator-at.ts'

/** RelayFacilitatorOptions say what a site requires of a relay's facilitator. */
export interface RelayFacilitatorOptions {
  /** The address that must receive the payments. */
  payTo: string
  /**
   * The network of the payments.
   * @default sui:mainnet
   */
  network?: string | undefined
  /**
   * Sends the request to the relay.
   * @default the global `fetch`
   */
  fetch?: FetchFunction | undefined
}

/**
 * Finds the facilitator of a relay, for the option `facilitator` of `paid`. A relay's facilitator pays only one address, which its
 * operator chose, so it serves the sites of that operator.
 * @param relay the address of the relay
 * @throws SvcError `payments_unavailable` that says what to do; others when the relay does not answer
 */
export async function relayFacilitator(
  relay: string | URL,
  {
    payTo,
    network = 'sui:mainnet',
    fetch = (url, init) => globalThis.fetch(url, init),
  }: RelayFacilitatorOptions,
): Promise<Facilitator> {
  const { origin } = new URL(relay)
  const domain = await new RelayClient(new URL(origin), fetch).call('/sdk/domain')
  const x402 = isRecord(domain) && isRecord(domain.x402) ? domain.x402 : {}
  if (x402.enabled !== true || typeof x402.url !== 'string' || !URL.canParse(x402.url))
    throw unavailable(
      `${origin} runs no facilitator of payments: name another one by its URL, or take one in this process`,
    )
  if (x402.network !== network)
    throw unavailable(
      `the facilitator of ${origin} is for ${x402.network}, and the site's network is ${network}: choose that one, or another facilitator`,
    )
  if (String(x402.pay_to).toLowerCase() !== payTo.toLowerCase())
    throw unavailable(
      `the facilitator of ${origin} pays ${x402.pay_to} alone, and not ${payTo}: its operator sets X402_PAY_TO; take another facilitator, or one in this process`,
    )
  return withHiddenResource(facilitatorAt(x402.url, { fetch: fetch as typeof globalThis.fetch }))
}

function unavailable(message: string): SvcError {
  return new SvcError('payments_unavailable', message)
}
