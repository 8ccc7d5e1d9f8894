// Makes a facilitator in this process. The blockchain libraries are loaded only here.

import type { Facilitator } from './facilitator.ts'
import type { PaymentJournal } from './journal.ts'
import { MAX_ENDPOINTS } from './limits.ts'
import { isPaymentAddress, NETWORKS, type PaymentNetwork } from './networks.ts'
import { PaymentError } from './payment-error.ts'

/** FacilitatorOptions say which payments a facilitator accepts, and which full nodes it uses. */
export interface FacilitatorOptions {
  network: PaymentNetwork
  /** The address of the only recipient: `0x` and 64 hexadecimal digits. Payments to others are refused. */
  payTo: string
  journal: PaymentJournal
  /**
   * URLs of full nodes with gRPC-web, tried in turn; at most 8.
   * @default the public ones of the network
   */
  endpoints?: readonly string[] | undefined
  /**
   * The `fetch` for the full nodes.
   * @default the platform's
   */
  fetch?: typeof fetch | undefined
  /**
   * The time, in milliseconds since 1970.
   * @default `Date.now`
   */
  now?: (() => number) | undefined
}

/** The command that installs what {@link createFacilitator} needs. The versions are those that this package is tested with. */
const INSTALL = 'npm install @x402/core@2.27.0 @mysten/sui@2.33.1'

/**
 * Makes a facilitator. Before this resolves, it looks up payments without an outcome in the journal, if a
 * full node answers.
 * @throws PaymentError `invalid_settings`, or `library_missing` with the command that installs the libraries
 */
export async function createFacilitator(options: FacilitatorOptions): Promise<Facilitator> {
  const endpoints = options.endpoints?.length ? options.endpoints : NETWORKS[options.network]?.endpoints
  if (endpoints === undefined)
    throw new PaymentError('invalid_settings', `${options.network} is not one of ${networkList()}`)
  if (!isPaymentAddress(options.payTo))
    throw new PaymentError(
      'invalid_settings',
      `payTo is no address of the chain: it takes 0x and 64 hexadecimal digits, not ${options.payTo}`,
    )
  if (endpoints.length > MAX_ENDPOINTS || !endpoints.every(isEndpoint))
    throw new PaymentError('invalid_settings', `endpoints takes 1 to ${MAX_ENDPOINTS} URLs of https or http`)
  const { SuiFacilitator } = await loadFacilitator()
  return await SuiFacilitator.start({
    network: options.network,
    payTo: options.payTo.toLowerCase(),
    journal: options.journal,
    endpoints,
    chain: options.endpoints?.length ? undefined : NETWORKS[options.network].chain,
    fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    now: options.now ?? Date.now,
  })
}

/** Loads the libraries, and nothing else. @throws PaymentError `library_missing` */
export async function loadFacilitator(): Promise<typeof import('./sui/facilitator.ts')> {
  try {
    return await import('./sui/facilitator.ts')
  } catch (cause) {
    throw new PaymentError('library_missing', `payments need two more libraries, which ${INSTALL} installs`, {
      cause,
    })
  }
}

function isEndpoint(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

function networkList(): string {
  return Object.keys(NETWORKS).join(', ')
}
