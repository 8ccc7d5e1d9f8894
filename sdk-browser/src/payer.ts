// @svc/sdk-browser/payer: pays for what sites sell by x402, and signs nothing that it has not written itself.

export * from '@svc/sdk-core/payer'
