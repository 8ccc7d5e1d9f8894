// @svc/sdk-core/payer: pays for what sites sell by x402. It is in the payer's own bundle, since a seller's copy may do anything.

export { settlementOf, type X402FetchOptions, x402Fetch } from './fetch.ts'
export { type BrowserWallet, connect, type PayerWallet, wallets } from './wallets.ts'
