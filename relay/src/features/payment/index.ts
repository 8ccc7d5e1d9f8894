// The payment facilitator as a feature. A relay whose payments are off loads none of its code, nor the libraries of the chain.

import type { AdminPaymentsResponse } from '@svc/protocol'
import { SettingsError } from '../../core/config/settings.ts'
import type { Feature } from '../../feature.ts'
import type { PaymentResult } from './payment-counts.ts'
import { paymentSettings } from './settings.ts'
import type { RunningFacilitator } from './start-facilitator.ts'

export const payment: Feature = {
  settings: paymentSettings,
  checks: { payments: async (settings) => (await import('./check.ts')).checkPayment(settings) },
  isOn: (settings) => settings.payment.isEnabled && settings.payment.payTo !== undefined,
  start: async ({ settings, state }) => {
    const [
      { startFacilitator },
      { registerPaymentMetrics },
      { createPaymentHandlers },
      { PAYMENT_ENDPOINTS },
      { routingOf },
      { ENDPOINTS },
    ] = await Promise.all([
      import('./start-facilitator.ts'),
      import('./metrics.ts'),
      import('./handlers.ts'),
      import('./endpoints.ts'),
      import('../../core/api/endpoint-handler.ts'),
      import('../../core/api/endpoints/endpoints.ts'),
    ])
    const running = await startFacilitator({
      settings: { ...settings.payment, payTo: settings.payment.payTo! },
      origin: settings.url.origin,
      identityPath: settings.identityPath,
      writeHealth: state.writeHealth,
    }).catch((error) => {
      throw new SettingsError('X402_ENABLED', `payments cannot start: ${error.message}`)
    })
    return {
      domain: () => ({ x402: running.info }),
      endpoints: PAYMENT_ENDPOINTS,
      routes: (api) => routingOf(PAYMENT_ENDPOINTS, createPaymentHandlers(running, api)),
      handlers: ({ answer }) => ({
        adminPayments: answer(ENDPOINTS.adminPayments, () => adminPayments(running)),
      }),
      metrics: (metrics) => registerPaymentMetrics(metrics, running.counts),
    }
  },
}

async function adminPayments({ info, counts, journal }: RunningFacilitator): Promise<AdminPaymentsResponse> {
  const { enabled, network_name, pay_to } = info
  const sum = (result: PaymentResult): number =>
    [...counts.requests].reduce((all, { labels, count }) => all + (labels.result === result ? count : 0), 0)
  const open = (await journal.open()).length
  const { settled } = counts
  return { enabled, network_name, pay_to, settled, refused: sum('refused'), failed: sum('failed'), open }
}
