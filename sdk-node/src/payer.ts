// @svc/sdk-node/payer: pays sites by x402, and signs only transactions that it built itself.

export * from '@svc/sdk-core/payer'
