// A journal for tests: it keeps records in memory, outlives the facilitator as a disk does, and fails when it is told to.

import { KeptRecords, type PaymentJournal, type PaymentRecord } from '../src/index.ts'

export class MemoryJournal implements PaymentJournal {
  readonly records: KeptRecords = new KeptRecords()
  /** Records that were written, oldest first. */
  readonly notes: PaymentRecord[] = []
  /** Says of a record whether the disk is full when it comes. */
  isFull: (record: PaymentRecord) => boolean = () => false

  note(record: PaymentRecord): Promise<void> {
    if (this.isFull(record)) return Promise.reject(new Error('ENOSPC'))
    this.records.set(record)
    this.notes.push(record)
    return Promise.resolve()
  }

  find(digest: string): Promise<PaymentRecord | undefined> {
    return Promise.resolve(this.records.find(digest))
  }

  open(): Promise<PaymentRecord[]> {
    return Promise.resolve(this.records.open())
  }
}
