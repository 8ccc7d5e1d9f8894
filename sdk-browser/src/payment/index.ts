// @svc/sdk-browser/payment: a facilitator that runs in this page, for the option `facilitator` of `paid`, and its journal.

export * from '@svc/sdk-core/payment'
export { openPaymentJournal } from './stored-journal.ts'
