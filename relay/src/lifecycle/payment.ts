// Starts the payment facilitator. A relay whose payments are off loads none of its code, nor the libraries of the chain.

import type { X402FacilitatorInfo } from '@svc/protocol'
import type { PaymentApi } from '../core/api/handlers/payment.ts'
import { SettingsError } from '../core/config/settings.ts'
import type { Measured } from '../core/metrics/metrics.ts'
import type { PaymentCounts } from '../features/payment/payment-counts.ts'
import type { RelayParts } from './parts.ts'

export interface Payment extends PaymentApi, Measured {
  readonly info: X402FacilitatorInfo
  readonly counts: PaymentCounts
  /** Payments whose outcome is not known yet. */
  countOpen(): Promise<number>
}

/**
 * @returns undefined where payments are off
 * @throws SettingsError where a library is missing, or the journal cannot be read
 */
export async function startPayment({ settings, state }: RelayParts): Promise<Payment | undefined> {
  const { payment, url, identityPath } = settings
  const { payTo } = payment
  if (!payment.isEnabled || payTo === undefined) return undefined
  const [{ startFacilitator }, { registerPaymentMetrics }, { createPaymentHandlers }, { PAYMENT_ENDPOINTS }] =
    await Promise.all([
      import('../features/payment/start-facilitator.ts'),
      import('../features/payment/metrics.ts'),
      import('../core/api/handlers/payment.ts'),
      import('../core/api/endpoints/payment-endpoints.ts'),
    ])
  const running = await startFacilitator({
    settings: { ...payment, payTo },
    origin: url.origin,
    identityPath,
    writeHealth: state.writeHealth,
  }).catch((error) => {
    throw new SettingsError('X402_ENABLED', `payments cannot start: ${error.message}`)
  })
  return {
    info: running.info,
    counts: running.counts,
    metrics: (metrics) => registerPaymentMetrics(metrics, running.counts),
    countOpen: async () => (await running.journal.open()).length,
    endpoints: PAYMENT_ENDPOINTS,
    createHandlers: (parts) => createPaymentHandlers(running, parts),
  }
}
