// The journal in which a facilitator writes payments down, so that a crash loses none and a payment is not taken twice.

import type { SettleResponse } from './messages.ts'

/** PaymentRecord is one payment that was, or is about to be, carried out. */
export interface PaymentRecord {
  /** Digest of the transaction in Base58. A payment has one, however often it is sent. */
  digest: string
  /** URL of what was paid for; empty where the request named none. */
  resource: string
  payer: string
  payTo: string
  network: string
  asset: string
  /** Whole number of the asset's smallest units, as digits. */
  amount: string
  /** Last epoch of the chain in which the payment can be carried out. */
  lastEpoch: string
  /** Milliseconds since 1970. */
  notedAt: number
  /** The answer; absent while it is not known whether the payment was carried out. */
  outcome?: SettleResponse
}

/**
 * PaymentJournal keeps records of payments. It is bounded: it may forget the oldest ones that have an outcome, those of
 * payments that failed first. It never forgets one without an outcome.
 */
export interface PaymentJournal {
  /**
   * Writes a payment down, in place of an earlier record of the same digest. Resolves when the record survives a crash.
   * Rejects when it could not be written, or when too many records have no outcome.
   */
  note(record: PaymentRecord): Promise<void>
  find(digest: string): Promise<PaymentRecord | undefined>
  /** The records without an outcome, in no order. */
  open(): Promise<PaymentRecord[]>
}
