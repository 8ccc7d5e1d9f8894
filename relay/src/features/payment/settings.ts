// The settings of the relay's payment facilitator.

import { isPaymentAddress, MAX_ENDPOINTS, type PaymentNetwork } from '@svc/payment/networks'
import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { Condition, SettingsTable } from '../../core/config/setting.ts'
import { flag } from '../../core/config/setting-values.ts'
import { SettingsError } from '../../core/config/settings-error.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    payment: PaymentSettings
  }
}

export interface PaymentSettings {
  isEnabled: boolean
  network: PaymentNetwork
  /** The address of the recipient; undefined only when payments are off. */
  payTo: string | undefined
  /** URLs of full nodes, asked in turn; undefined: the public ones of the network. */
  endpoints: readonly string[] | undefined
}

const ENABLED: Condition = {
  isMet: ({ payment }) => payment.isEnabled,
  unmet: 'X402_ENABLED is false',
}

const TABLE = {
  X402_ENABLED: {
    meaning: 'whether the relay checks and settles payments by x402 for sites, at /api/x402',
    default: 'false',
    isOfOneMachine: true,
    parse: flag,
  },
  X402_TESTNET: {
    needs: ENABLED,
    meaning: 'whether these payments are of the test network, where coins are worth nothing',
    default: 'false',
    parse: flag,
  },
  X402_PAY_TO: {
    needs: ENABLED,
    meaning: 'Sui address that gets all payments: 0x and 64 hexadecimal digits',
    unset: 'needed with X402_ENABLED=true',
    parse: paymentAddress,
  },
  X402_ENDPOINTS: {
    needs: ENABLED,
    meaning: 'URLs of full nodes that speak gRPC-web, asked in turn, separated by commas',
    unset: 'the public full node of the network',
    parse: endpoints,
  },
} satisfies SettingsTable

export const paymentSettings: FeatureSettings = {
  table: TABLE,
  read: (reader) => {
    const { read, optional } = reader.of(TABLE)
    const isEnabled = read('X402_ENABLED')
    const payTo = optional('X402_PAY_TO')
    if (isEnabled && payTo === undefined)
      throw new SettingsError(
        'X402_PAY_TO',
        'is needed with X402_ENABLED=true: nobody would get the payments',
      )
    const network = read('X402_TESTNET') ? 'sui:testnet' : 'sui:mainnet'
    return { payment: { isEnabled, network, payTo, endpoints: optional('X402_ENDPOINTS') } }
  },
}

function paymentAddress(value: string, setting: string): string {
  if (!isPaymentAddress(value))
    throw new SettingsError(
      setting,
      `"${value}" is not a Sui address: it takes 0x and 64 hexadecimal digits, not all zero`,
    )
  return value.toLowerCase()
}

/** URLs may contain an account's key, so messages never repeat them. */
function endpoints(value: string, setting: string): string[] {
  const urls = value.split(',').map((part) => URL.parse(part.trim()))
  const isUsable = (url: URL | null): url is URL =>
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (!urls.every(isUsable) || urls.length > MAX_ENDPOINTS)
    throw new SettingsError(
      setting,
      `takes 1 to ${MAX_ENDPOINTS} URLs of https or http without user names, separated by commas`,
    )
  return urls.map(({ href }) => href)
}
