// Counts what the facilitator answers, for metrics and the administration page.

import { LabeledCounter } from '../../core/metrics/relay-counters.ts'

/** The kinds of requests that are about one payment. */
export type PaymentQuestion = 'verify' | 'settle' | 'prepare'

/**
 * The answer to a request: the payment is right, carried out or prepared; it was refused; or it failed, because full
 * nodes, the journal or room were missing.
 */
export type PaymentResult = 'accepted' | 'refused' | 'failed'

export class PaymentCounts {
  readonly requests: LabeledCounter<{ question: PaymentQuestion; result: PaymentResult }> =
    new LabeledCounter()
  /** Payments that were carried out since the relay started. A repeated request counts again. */
  settled = 0
}
