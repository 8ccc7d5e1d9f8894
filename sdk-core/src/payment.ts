// @svc/sdk-core/payment: the facilitator of payments, for the SDKs of platforms, which add a journal.

export * from '@svc/payment'
