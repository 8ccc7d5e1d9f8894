// @svc/sdk-core/payment: the payment facilitator, for the platforms' SDKs, which add a journal.

export * from '@svc/payment'
