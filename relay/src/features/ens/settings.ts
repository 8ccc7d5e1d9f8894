// The setting of ENS names.

import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { SettingsTable } from '../../core/config/setting.ts'
import { flag, isLocalhost } from '../../core/config/setting-values.ts'
import type { Settings } from '../../core/config/settings.ts'
import { SettingsError } from '../../core/config/settings-error.ts'
import { PROVIDERS_WITHOUT_DNSSEC } from '../dns/index.ts'

const TABLE = {
  ENS_GASLESS_ENABLED: {
    meaning:
      'whether the relay publishes ENS names of its host and of sites in the DNS, without transactions',
    default: 'false',
    isOfOneMachine: true,
    parse: flag,
  },
} satisfies SettingsTable

export const ensSettings: FeatureSettings = {
  table: TABLE,
  read: (reader) => ({ ensGasless: reader.of(TABLE).read('ENS_GASLESS_ENABLED') }),
  check,
}

/** @throws SettingsError when nobody could verify the names */
function check({ ensGasless, rootHost, acmeDnsProvider: provider = '' }: Settings): void {
  if (!ensGasless) return
  if (isLocalhost(rootHost))
    throw new SettingsError('ENS_GASLESS_ENABLED', `needs a public host: ${rootHost} is not in the DNS`)
  if (PROVIDERS_WITHOUT_DNSSEC.includes(provider))
    throw new SettingsError(
      'ENS_GASLESS_ENABLED',
      `is not possible with ACME_DNS_PROVIDER=${provider}, whose DNSSEC nobody but its users can turn on; embedded has it`,
    )
}
