// Collects what optional features add to `GET /sdk/domain`. Each feature makes its own answer for each request.

import type { EnsStatus, StaticCacheLimits, X402FacilitatorInfo } from '@svc/protocol'

export interface OptionalFeatures {
  ens: () => EnsStatus
  x402: () => X402FacilitatorInfo
  /** Returns undefined while static caching is off. */
  cache: () => StaticCacheLimits | undefined
  /** Returns undefined where discovery is off. */
  discovery: () => true | undefined
  /** Resolves with undefined while the installer has nothing to install. */
  downloads: () => Promise<true | undefined>
}

/**
 * The answers of a relay that has none of these features.
 * @param relayAddress of the relay's identity
 */
export function noOptionalFeatures(relayAddress: string): OptionalFeatures {
  return {
    ens: () => ({
      enabled: false,
      verified: false,
      provider: '',
      address: relayAddress,
      dnssec_state: '',
      ds_record: '',
      message: '',
      last_error: '',
    }),
    x402: () => ({ enabled: false, url: '', network: '', network_name: '', supported_url: '', pay_to: '' }),
    cache: () => undefined,
    discovery: () => undefined,
    downloads: async () => undefined,
  }
}
