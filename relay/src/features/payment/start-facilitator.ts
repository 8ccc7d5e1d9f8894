// Starts the facilitator: its journal, its client for full nodes, and what the relay reports about it.

import {
  createFacilitator,
  type Facilitator,
  NETWORKS,
  openLogJournal,
  type PaymentJournal,
} from '@svc/payment'
import { PATH, type X402FacilitatorInfo } from '@svc/protocol'
import type { WriteHealth } from '../../core/storage/write-health.ts'
import { paymentJournalFile } from './journal-file.ts'
import { createNodeFetch } from './node-fetch.ts'
import { OpenPayments } from './open-payments.ts'
import { PaymentCounts } from './payment-counts.ts'
import type { PaymentSettings } from './settings.ts'

interface FacilitatorParts {
  settings: PaymentSettings & { payTo: string }
  /** Origin of the relay's URL. */
  origin: string
  /** The state directory of the relay. */
  identityPath: string
  writeHealth: WriteHealth
}

/** The facilitator while it runs. */
export interface RunningFacilitator {
  readonly facilitator: Facilitator
  readonly journal: Pick<PaymentJournal, 'open'>
  readonly info: X402FacilitatorInfo
  readonly counts: PaymentCounts
  readonly openPayments: OpenPayments
}

/** @throws PaymentError when a library is missing, or the journal cannot be read */
export async function startFacilitator({
  settings,
  origin,
  identityPath,
  writeHealth,
}: FacilitatorParts): Promise<RunningFacilitator> {
  const { network, payTo } = settings
  const endpoints = settings.endpoints ?? NETWORKS[network].endpoints
  const journal = await openLogJournal(paymentJournalFile(identityPath, writeHealth))
  const facilitator = await createFacilitator({
    network,
    payTo,
    journal,
    endpoints: settings.endpoints,
    fetch: createNodeFetch(endpoints),
  })
  const info = {
    enabled: true,
    url: `${origin}${PATH.x402}`,
    network,
    network_name: NETWORKS[network].name,
    supported_url: `${origin}${PATH.x402Supported}`,
    pay_to: payTo,
  }
  return { facilitator, journal, info, counts: new PaymentCounts(), openPayments: new OpenPayments() }
}
