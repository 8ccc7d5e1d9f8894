// The networks and coins that payments are made with.

import { PAYMENT_SECONDS } from './limits.ts'
import type { PaymentRequirements } from './messages.ts'

export { MAX_ENDPOINTS } from './limits.ts'

/** The supported version of x402. */
export const X402_VERSION = 2

/** The payment is exactly the amount of the requirements. Source: x402 version 2, scheme `exact`. */
export const SCHEME = 'exact'

/** The only transfer method: from the sender's address balance, by a transaction without gas. */
export const ASSET_TRANSFER_METHOD = 'sui-gasless-stablecoin-address-balance'

/** A network of the chain, by its CAIP-2 name. */
export type PaymentNetwork = 'sui:mainnet' | 'sui:testnet'

/** NetworkFacts are the constants of a network. */
export interface NetworkFacts {
  /** Name for people. */
  name: string
  /** Type of USDC. Source: Circle's "USDC contract addresses". */
  usdc: string
  /** The digest of the first checkpoint, which all our transactions contain. Source: `getChainIdentifier` of the public nodes. */
  chain: string
  /**
   * Milliseconds since 1970 at which its first epoch began, or before: each one since has lasted a day at least. Source: the time of
   * that checkpoint.
   */
  began: number
  /** Public full nodes, for gRPC-web. Source: the chain's documentation. */
  endpoints: readonly string[]
}

/** The networks on which payments are made. */
export const NETWORKS: Readonly<Record<PaymentNetwork, NetworkFacts>> = {
  'sui:mainnet': {
    name: 'Sui Mainnet',
    usdc: '0xdba34672e30cb065b1f93e3ab55318768fd6fef66c15942c9f7cb846e2f900e7::usdc::USDC',
    chain: '4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S',
    began: 1_681_393_657_483,
    endpoints: ['https://fullnode.mainnet.sui.io:443'],
  },
  'sui:testnet': {
    name: 'Sui Testnet',
    usdc: '0xa1ec7fc00a6f40db9693ad1415d0c193ad3906494428cf252621037bd7117e29::usdc::USDC',
    chain: '69WiPg3DAQiwdxfncX6wYQ2siKwAe6L9BZthQea3JNMD',
    began: Date.UTC(2023, 0), // The current test network is younger.
    endpoints: ['https://fullnode.testnet.sui.io:443'],
  },
}

/** The decimal places of USDC. */
export const USDC_DECIMALS = 6

/** An address of the chain: 32 bytes in hexadecimal, with `0x`. Shorter ones, such as Ethereum's, are invalid. */
const ADDRESS = /^0x[0-9a-f]{64}$/i

/**
 * Returns whether a text is a valid recipient.
 * @param text such as `0x1eb7…`; the zero address, which belongs to nobody, is invalid
 */
export function isPaymentAddress(text: string): boolean {
  return ADDRESS.test(text) && /[1-9a-f]/i.test(text.slice(2))
}

/** The requirements of a payment in USDC. @param amount whole number of units, as digits */
export function usdcRequirements(
  network: PaymentNetwork,
  payTo: string,
  amount: string,
): PaymentRequirements {
  return {
    scheme: SCHEME,
    network,
    amount,
    asset: NETWORKS[network].usdc,
    payTo: payTo.toLowerCase(),
    maxTimeoutSeconds: PAYMENT_SECONDS,
    extra: { asset: 'USDC', assetTransferMethod: ASSET_TRANSFER_METHOD },
  }
}
