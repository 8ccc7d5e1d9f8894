// DNS records of the relay as a feature, served by its own name server or by a provider. A relay that changes none
// loads none of its code.

import type { Feature } from '../../feature.ts'
import { dnsSettings, isDnsNeeded } from './settings.ts'
import type { RunningDns } from './start-dns.ts'

export { EMBEDDED, PROVIDERS_WITHOUT_DNSSEC } from './settings.ts'
export type { RunningDns }

export const dns: Feature<RunningDns> = {
  settings: dnsSettings,
  checks: { DNS: async (settings, options) => (await import('./check.ts')).checkDns(settings, options) },
  isOn: (settings, { isManaged }) => isDnsNeeded(settings, isManaged),
  start: async ({ settings, state, log }) => {
    const { startDns } = await import('./start-dns.ts')
    return await startDns({ ...state, settings, log })
  },
}
