// The journal in which a facilitator records payments, so that a crash loses none and none is accepted twice.

import type { SettleResponse } from './messages.ts'

/** PaymentRecord is one payment that was, or is about to be, settled. */
export interface PaymentRecord {
  /** The digest of the transaction in Base58, the same each time the payment is sent. */
  digest: string
  /** The URL of what was paid for; empty if the request named none. */
  resource: string
  payer: string
  payTo: string
  network: string
  asset: string
  /** Whole number of the asset's smallest units, as digits. */
  amount: string
  /** The last epoch of the chain in which the payment can be executed. */
  lastEpoch: string
  /** Milliseconds since 1970. */
  notedAt: number
  /** The answer; absent while the outcome is unknown. */
  outcome?: SettleResponse
}

/**
 * PaymentJournal stores records of payments. It is bounded: it may forget the oldest ones with an outcome, failed
 * payments first, but never one without an outcome.
 */
export interface PaymentJournal {
  /**
   * Stores a payment, replacing an earlier record of the same digest. Resolves when the record survives a crash.
   * Rejects when it could not be written, or when too many records have no outcome.
   */
  note(record: PaymentRecord): Promise<void>
  find(digest: string): Promise<PaymentRecord | undefined>
  /** The records without an outcome, in any order. */
  open(): Promise<PaymentRecord[]>
}
