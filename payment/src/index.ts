// The public names of the package.

export * from './client.ts'
export { createFacilitator, type FacilitatorOptions, loadFacilitator } from './create-facilitator.ts'
export type { PaymentJournal, PaymentRecord } from './journal.ts'
export { KeptRecords } from './kept-records.ts'
export { type JournalFile, openLogJournal } from './log-journal.ts'
