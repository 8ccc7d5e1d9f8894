// @svc/sdk-node/payment: a facilitator that runs in this process, for the option `facilitator` of `paid`, and its journal.

export * from '@svc/payment'
export { openPaymentJournal } from './journal-file.ts'
