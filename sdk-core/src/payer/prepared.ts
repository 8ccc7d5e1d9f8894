// Gets from the site the transactions that the payer signs, and checks before signing that they do exactly what the payer wants.

import { isDeposit, isPayment } from '@svc/payment/client'
import { fromBase64, toBase64 } from '../bytes/base64.ts'
import { SvcError } from '../errors.ts'
import { fieldsOf, refused, type Terms } from './terms.ts'
import type { PayerWallet } from './wallets.ts'

/** How often the client asks the site whether coins have arrived, and the milliseconds in between. */
const POLLS = 20
const POLL_MS = 1_000

/**
 * Gets the payment; if needed, it first moves coins of the payer to where they can be spent.
 * @returns the payment, in Base64
 * @throws SvcError `payment_refused`, `payments_unavailable`, or the error of the wallet
 */
export async function preparedPayment(
  request: Request,
  terms: Terms,
  wallet: PayerWallet,
  onStatus: (text: string) => void,
): Promise<string> {
  const sender = wallet.address.toLowerCase()
  for (let polls = 0; ; polls += 1) {
    const { paymentTransaction, prepareTransaction } = await ask(request, sender)
    if (prepareTransaction === undefined) {
      const bytes = bytesOf(paymentTransaction)
      if (!isPayment(bytes, { ...terms, sender }, terms.network, Date.now()))
        throw refused(
          'the site prepared another transaction than the payment that it asked for; nothing was signed',
        )
      return toBase64(bytes)
    }
    if (polls === 0) {
      const bytes = bytesOf(prepareTransaction)
      if (!isDeposit(bytes, { sender, asset: terms.asset }, terms.network, Date.now()))
        throw refused(
          'the site prepared a transaction that does not just gather your own coins; nothing was signed',
        )
      if (!wallet.execute) throw refused('the wallet cannot move its coins to where they can be paid from')
      onStatus('Please let your wallet make the money ready …')
      await wallet.execute(toBase64(bytes))
    } else await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    if (polls === POLLS)
      throw new SvcError('payments_unavailable', 'the money is not ready yet; please try again later')
  }
}

async function ask({ url, method }: Request, sender: string): Promise<Record<string, unknown>> {
  const { origin, pathname: path } = new URL(url)
  const response = await fetch(`${origin}/x402/prepare`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ sender, method, path }),
  })
  const answer = fieldsOf(await response.json().catch(() => undefined))
  if (!response.ok)
    throw new SvcError(
      'payments_unavailable',
      `the payment could not be prepared: ${answer.message ?? response.status}`,
    )
  return answer
}

function bytesOf(prepared: unknown): Uint8Array {
  const { transaction } = fieldsOf(prepared)
  return (typeof transaction === 'string' && fromBase64(transaction)) || new Uint8Array()
}
