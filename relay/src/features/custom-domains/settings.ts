// The settings of custom domains.

import { isIP } from 'node:net'
import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { Condition, SettingsTable } from '../../core/config/setting.ts'
import { flag } from '../../core/config/setting-values.ts'
import { SettingsError } from '../../core/config/settings-error.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    customDomains: CustomDomainSettings
  }
}

interface CustomDomainSettings {
  isEnabled: boolean
  /** Each in the form of `Resolver.setServers`; undefined: the authoritative servers of each domain. */
  resolvers: readonly string[] | undefined
}

/** Resolvers that are asked for each domain. */
const RESOLVERS_MAX = 4
const ENABLED: Condition = {
  isMet: ({ customDomains }) => customDomains.isEnabled,
  unmet: 'CUSTOM_DOMAINS is false',
}

const TABLE = {
  CUSTOM_DOMAINS: {
    meaning: "whether the relay leads sites' own domains to them, whose DNS records name the site",
    default: 'true',
    parse: flag,
  },
  CUSTOM_DOMAIN_RESOLVERS: {
    needs: ENABLED,
    meaning:
      'validating resolvers that are asked for the records of custom domains, where the relay cannot reach other name servers: ADDRESS or ADDRESS:PORT, separated by commas',
    unset: 'the authoritative name servers of each domain',
    parse: resolvers,
  },
} satisfies SettingsTable

export const customDomainSettings: FeatureSettings = {
  table: TABLE,
  read: (reader) => {
    const { read, optional } = reader.of(TABLE)
    return {
      customDomains: {
        isEnabled: read('CUSTOM_DOMAINS'),
        resolvers: optional('CUSTOM_DOMAIN_RESOLVERS'),
      },
    }
  },
}

function resolvers(value: string, setting: string): readonly string[] {
  const servers = value.split(',').map((server) => server.trim())
  for (const server of servers) {
    const [, bracketed, host = bracketed ?? server, port = '53'] =
      /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(server) ?? []
    if (isIP(bracketed ?? host) === 0 || Number(port) < 1 || Number(port) > 65_535)
      throw new SettingsError(setting, `"${server}" is neither ADDRESS nor ADDRESS:PORT`)
  }
  if (servers.length > RESOLVERS_MAX)
    throw new SettingsError(setting, `has more than ${RESOLVERS_MAX} resolvers`)
  return servers
}
