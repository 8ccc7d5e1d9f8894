// The common part of the payments' crash test, of its writer and its parent: the payments, and the way to a facilitator.

import { createFacilitator, type Facilitator, openLogJournal, type PaymentRequest } from '@svc/payment'
import { PAY_TO, requestOf } from '../../../payment/test/payments.ts'
import { paymentJournalFile } from '../../src/features/payment/journal-file.ts'

/** Payments that are under way at once. */
export const LANES = 6

/** A payment of 0.01 USDC, always the same one for a number. */
export function paymentOf(n: number): Promise<PaymentRequest> {
  return requestOf({ nonce: n })
}

/** A facilitator with the relay's journal in a directory. */
export async function facilitatorOf(directory: string, url: string): Promise<Facilitator> {
  const health = { watch: (_file: unknown, write: () => Promise<void>) => write() }
  return await createFacilitator({
    network: 'sui:testnet',
    payTo: PAY_TO,
    journal: await openLogJournal(paymentJournalFile(directory, health)),
    endpoints: [url],
  })
}

/** The file in which the writer finds the full node. */
export function nodeFileOf(directory: string): string {
  return `${directory}.node`
}
