// The records of a journal in memory, with eviction of the oldest.

import type { PaymentRecord } from './journal.ts'
import { MAX_OTHER_RECORDS, MAX_SETTLED_RECORDS } from './limits.ts'
import { PaymentError } from './payment-error.ts'

/** KeptRecords evicts the oldest successful and the oldest failed payments separately. */
export class KeptRecords {
  readonly #open = new Map<string, PaymentRecord>()
  readonly #failed = new Map<string, PaymentRecord>()
  readonly #settled = new Map<string, PaymentRecord>()

  /** @throws PaymentError `busy` when too many records have no outcome */
  set(record: PaymentRecord): void {
    const group = this.#groupOf(record)
    if (group === this.#open && !group.has(record.digest) && group.size >= MAX_OTHER_RECORDS)
      throw new PaymentError('busy', `${group.size} payments wait for an answer of the chain`)
    this.#remove(record.digest)
    group.set(record.digest, record)
    if (group !== this.#open)
      dropOldest(group, group === this.#settled ? MAX_SETTLED_RECORDS : MAX_OTHER_RECORDS)
  }

  /** Undoes {@link set}. @param before the record that was there */
  restore(digest: string, before: PaymentRecord | undefined): void {
    this.#remove(digest)
    if (before !== undefined) this.#groupOf(before).set(digest, before)
  }

  find(digest: string): PaymentRecord | undefined {
    return this.#open.get(digest) ?? this.#settled.get(digest) ?? this.#failed.get(digest)
  }

  open(): PaymentRecord[] {
    return [...this.#open.values()]
  }

  all(): PaymentRecord[] {
    return [...this.#failed.values(), ...this.#settled.values(), ...this.#open.values()]
  }

  #groupOf({ outcome }: PaymentRecord): Map<string, PaymentRecord> {
    if (outcome === undefined) return this.#open
    return outcome.success ? this.#settled : this.#failed
  }

  #remove(digest: string): void {
    for (const group of [this.#open, this.#failed, this.#settled]) group.delete(digest)
  }
}

function dropOldest(group: Map<string, PaymentRecord>, size: number): void {
  for (const digest of group.keys()) {
    if (group.size <= size) return
    group.delete(digest)
  }
}
