// The settings of the relay's payment facilitator.

import { isPaymentAddress, MAX_ENDPOINTS, type PaymentNetwork } from '@svc/payment/networks'
import { PAYMENT } from './features.ts'
import type { Setting } from './setting.ts'
import { flag } from './setting-values.ts'
import { SettingsError } from './settings-error.ts'

export interface PaymentSettings {
  isEnabled: boolean
  network: PaymentNetwork
  /** The address of the recipient; undefined only where payments are off. */
  payTo: string | undefined
  /** URLs of full nodes, asked in turn; undefined: the public ones of the network. */
  endpoints: readonly string[] | undefined
}

interface PaymentTable {
  X402_ENABLED: Setting<boolean>
  X402_TESTNET: Setting<boolean>
  X402_PAY_TO: Setting<string>
  X402_ENDPOINTS: Setting<string[]>
}

/** The rows of these settings, in the order in which `--help` lists them. */
export const PAYMENT_TABLE: PaymentTable = {
  X402_ENABLED: {
    meaning: 'whether the relay checks and settles payments by x402 for sites, at /api/x402',
    default: 'false',
    parse: flag,
  },
  X402_TESTNET: {
    feature: PAYMENT,
    meaning: 'whether these payments are of the test network, where coins are worth nothing',
    default: 'false',
    parse: flag,
  },
  X402_PAY_TO: {
    feature: PAYMENT,
    meaning: 'Sui address that gets all payments: 0x and 64 hexadecimal digits',
    unset: 'needed with X402_ENABLED=true',
    parse: payTo,
  },
  X402_ENDPOINTS: {
    feature: PAYMENT,
    meaning: 'URLs of full nodes that speak gRPC-web, asked in turn, separated by commas',
    unset: 'the public full node of the network',
    parse: endpoints,
  },
}

/** @throws SettingsError when payments are on and nobody gets them */
export function possiblePayment(settings: PaymentSettings): PaymentSettings {
  if (settings.isEnabled && settings.payTo === undefined)
    throw new SettingsError('X402_PAY_TO', 'is needed with X402_ENABLED=true: nobody would get the payments')
  return settings
}

function payTo(value: string, setting: string): string {
  if (!isPaymentAddress(value))
    throw new SettingsError(
      setting,
      `"${value}" is not a Sui address: it takes 0x and 64 hexadecimal digits, not all zero`,
    )
  return value.toLowerCase()
}

/** URLs may hold the key of an account, so that messages repeat none. */
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
