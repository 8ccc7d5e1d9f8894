// The metrics of the payment facilitator.

import type { Metrics } from '../../core/metrics/metrics.ts'
import type { PaymentCounts } from './payment-counts.ts'

export function registerPaymentMetrics(metrics: Metrics, counts: PaymentCounts): void {
  metrics.labeledCounter(
    'payment_requests_total',
    'Requests to the payment facilitator: accepted, refused for what the payment is, or failed.',
    ['question', 'result'],
    counts.requests,
  )
  metrics.counter(
    'payments_settled_total',
    'Payments that the facilitator carried out.',
    () => counts.settled,
  )
}
