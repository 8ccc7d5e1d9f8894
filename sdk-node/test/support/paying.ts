// Visitors who pay through a tunnel: they prepare a payment with the site, sign it, and send it.

import { NETWORKS } from '@svc/payment'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import type { PaymentRequirements } from '@x402/core/types'
import type { TestWallet } from '../../../tools/sui-node/wallet.ts'
import { visit } from './exposed.ts'
import type { TestRelay } from './relay.ts'

/** @returns a fetch that reaches sites of the relay */
export function tunnelFetch(relay: TestRelay): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { origin, pathname, search } = new URL(request.url)
    const { method, headers } = request
    const body = Buffer.from(await request.arrayBuffer())
    const length = { 'content-length': String(body.length) }
    const response = await visit(relay, origin, pathname + search, {
      method,
      headers: { ...Object.fromEntries(headers), ...(body.length > 0 && length) },
      body,
    })
    const { statusCode: status, headers: fields } = response
    const content = Buffer.concat(await response.toArray())
    return new Response(method === 'HEAD' || content.length === 0 ? null : content, {
      status: status!,
      headers: Object.entries(fields).map(([name, value]) => [name, String(value)]),
    })
  }
}

/** The client of the reference library, with the scheme of this chain, which the library does not have. */
export function referenceClient(
  site: string,
  path: string,
  wallet: TestWallet,
  fetch: typeof globalThis.fetch,
): x402HTTPClient {
  const createPaymentPayload = async (x402Version: number, { payTo, amount }: PaymentRequirements) => {
    const asked = await fetch(`${site}/x402/prepare`, {
      method: 'POST',
      body: JSON.stringify({ sender: wallet.address, method: 'GET', path }),
    })
    const { paymentTransaction, paymentRequirements } = await asked.json()
    if (paymentRequirements.payTo !== payTo || paymentRequirements.amount !== amount)
      throw new Error('other terms')
    const { transaction } = paymentTransaction
    return { x402Version, payload: { signature: await wallet.signTransaction(transaction), transaction } }
  }
  const { usdc: asset } = NETWORKS['sui:testnet']
  const client = new x402Client()
    .register('sui:testnet', { scheme: 'exact', createPaymentPayload })
    .setSpendControls({ allowedAssets: [{ network: 'sui:testnet', asset, maxAmountPerPayment: '10000' }] })
  return new x402HTTPClient(client)
}
