// @svc/sdk-core/payer: pays sites by x402. Import it into the payer's own bundle, because a seller's copy could do anything.

export { settlementOf, type X402FetchOptions, x402Fetch } from './fetch.ts'
export { type BrowserWallet, connect, type PayerWallet, wallets } from './wallets.ts'
