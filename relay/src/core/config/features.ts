// The features that settings belong to: whether each is on, and what is said of a setting that has no effect because it is not.

import type { Feature, FeatureSettings, FeatureState, Setting } from './setting.ts'
import { isLocalhost } from './setting-values.ts'
import type { UnusedSetting } from './unused-settings.ts'

/** The provider of DNS records whose name server is this relay. */
export const EMBEDDED = 'embedded'

export const DISCOVERY: Feature = {
  isOn: ({ settings }) => settings.discovery.isEnabled,
  off: 'DISCOVERY is false',
}
export const STATIC_CACHE: Feature = {
  isOn: ({ settings }) => settings.cache.isEnabled,
  off: 'STATIC_CACHE_ENABLED is false',
}
export const PAYMENT: Feature = {
  isOn: ({ settings }) => settings.payment.isEnabled,
  off: 'X402_ENABLED is false',
}
export const CLUSTER: Feature = {
  isOn: ({ settings }) => settings.cluster !== undefined,
  off: 'CLUSTER_URL is not set',
}
export const PORTS: Feature = {
  isOn: ({ settings }) => settings.portRange !== undefined,
  off: 'MIN_PORT and MAX_PORT are not set',
}
export const ACME: Feature = {
  isOn: ({ isManaged }) => isManaged,
  off: 'the relay gets no certificates by ACME',
}
export const DNS: Feature = {
  isOn: ({ settings, isManaged }) => isDnsNeeded(settings, isManaged),
  off: 'the relay changes no DNS records',
}
export const NAME_SERVER: Feature = {
  isOn: (state) => DNS.isOn(state) && (state.settings.acmeDnsProvider ?? EMBEDDED) === EMBEDDED,
  off: 'the relay is no name server',
}
export const DNS_PROOF: Feature = {
  isOn: (state) => ACME.isOn(state) && DNS.isOn(state) && state.settings.acme.challenge !== 'tls-alpn-01',
  off: 'the relay proves no names by dns-01',
}
export const ADDRESSES: Feature = {
  isOn: (state) => DNS.isOn(state) || PORTS.isOn(state),
  off: 'the relay publishes no address records, and has no dedicated ports that name an address',
}

/** On localhost no records are needed, and for `tls-alpn-01` only those that the operator wants from a provider. */
export function isDnsNeeded(
  { rootHost, acme, acmeDnsProvider, ensGasless }: FeatureSettings,
  isManaged: boolean,
): boolean {
  if (isLocalhost(rootHost)) return false
  const isForAcme = isManaged && (acme.challenge !== 'tls-alpn-01' || acmeDnsProvider !== undefined)
  return isForAcme || ensGasless || acmeDnsProvider === EMBEDDED
}

/** Settings that the operator gave another value than the default, and whose feature is off. */
export function idleSettings(
  table: Readonly<Record<string, Setting<unknown>>>,
  state: FeatureState,
): UnusedSetting[] {
  const { given } = state.settings
  return Object.entries(table).flatMap(([name, { feature, default: byDefault }]) => {
    const isIdle = given.has(name) && given.get(name) !== byDefault && feature?.isOn(state) === false
    return isIdle ? [{ name, why: feature.off }] : []
  })
}
