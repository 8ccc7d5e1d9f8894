// Fetches, and pays when a site requires it: once, for one response.

import type { SettleResponse } from '@svc/payment/client'
import { decodeMessage, encodeMessage } from './message.ts'
import { preparedPayment } from './prepared.ts'
import { readTerms, refused } from './terms.ts'
import { connect, type PayerWallet, wallets } from './wallets.ts'

/** X402FetchOptions are the options of `x402Fetch`. */
export interface X402FetchOptions {
  /**
   * The wallet that pays.
   * @default the first one of this browser, which asks the person
   */
  wallet?: PayerWallet | undefined
  /**
   * The most that is paid, in USDC as decimal text, such as `"0.05"`.
   * @default no limit: set one unless a person confirms the payment in a wallet
   */
  maxAmount?: string | undefined
  /** Called with the progress, as text for people. */
  onStatus?: ((text: string) => void) | undefined
}

/** How often a payment whose outcome is unknown is sent: it is never charged twice. */
const CALLS = 5

/**
 * Fetches as `fetch` does, and pays when the site answers 402: once, for one response. The payment is compared byte for byte with
 * one that is built here: its sender, recipient, coin, amount and expiry. A site that prepares anything else gets no signature.
 * @throws SvcError `payment_refused` when the price or the transaction to sign is wrong; `payments_unavailable` when the site
 *   prepares no payment; `invalid_option` for an invalid `maxAmount`. Also the errors of `fetch` and of the wallet
 */
export async function x402Fetch(
  input: RequestInfo | URL,
  init?: RequestInit,
  { wallet, maxAmount, onStatus = () => {} }: X402FetchOptions = {},
): Promise<Response> {
  const request = new Request(input, init)
  const first = await fetch(request.clone())
  if (first.status !== 402) return first
  const terms = readTerms(first, maxAmount)
  await first.body?.cancel()
  onStatus('Connecting with the wallet …')
  const payer = wallet ?? (await connect(firstWallet(), terms.network))
  const transaction = await preparedPayment(request, terms, payer, onStatus)
  onStatus('Please agree to the payment in your wallet …')
  const signature = await payer.sign(transaction)
  const { resource, accepted } = terms
  const payment = encodeMessage({ x402Version: 2, resource, accepted, payload: { signature, transaction } })
  onStatus('Paying …')
  return send(request, payment)
}

/** Returns what was paid for a response, as the site reports it; undefined when nothing was. */
export function settlementOf({ headers }: Response): SettleResponse | undefined {
  const text = headers.get('payment-response')
  return text === null ? undefined : (decodeMessage(text) as SettleResponse | undefined)
}

function firstWallet(): Parameters<typeof connect>[0] {
  const [wallet] = wallets()
  if (!wallet)
    throw refused('No wallet was found. Install a Sui wallet in this browser, and load the page again.')
  return wallet
}

async function send(request: Request, payment: string): Promise<Response> {
  for (let calls = 1; ; calls += 1) {
    const paying = request.clone()
    paying.headers.set('PAYMENT-SIGNATURE', payment)
    const response = await fetch(paying)
    if (response.status !== 503 || calls === CALLS) return response
    await response.body?.cancel()
    const seconds = Number(response.headers.get('retry-after') ?? 1)
    await new Promise((resolve) => setTimeout(resolve, 1_000 * seconds))
  }
}
