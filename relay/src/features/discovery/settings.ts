// The settings of discovery.

import type { Rate } from '@svc/node-kit/gcra'
import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { Condition, SettingsTable } from '../../core/config/setting.ts'
import { flag, isLocalhost } from '../../core/config/setting-values.ts'
import type { CoreSettings } from '../../core/config/settings.ts'
import { SettingsError } from '../../core/config/settings-error.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    /** How the relay learns of other relays. */
    discovery: DiscoverySettings
  }
}

/** Bootstrap relays of one relay: it announces itself to each of them. */
const BOOTSTRAPS_MAX = 32
const ENABLED: Condition = {
  isMet: ({ discovery }) => discovery.isEnabled,
  unmet: 'DISCOVERY is false',
}

/** Limits of discovery that have no setting. */
export interface DiscoveryLimits {
  /** Shortest interval at which one relay is asked, in milliseconds. With many relays it is longer. */
  pollMs: number
  /**
   * Time after the start, in milliseconds, during which bootstrap relays, and others that do not answer, are asked more
   * often: relays that start together do not all listen yet, and would otherwise find each other an interval later.
   */
  earlyMs: number
  /** Time for one answer of another relay, in milliseconds. */
  queryMs: number
  /**
   * Relays that announced themselves and wait to be checked, and as many that other relays named. When there are more,
   * the source that named the most loses its last one.
   */
  candidatesMax: number
  /**
   * Dials of one network, an IPv4 /24 or an IPv6 /56, by names for which no relay was found there before. A check takes
   * two, a periodic poll one: an attacker with many names, or with many relays, can point all of them to the
   * addresses of one host.
   */
  dialsPerNetwork: Rate
  /**
   * Time for which the result of a search for a site is reused, in milliseconds: many visitors of one site cost one
   * search in that time.
   */
  siteResultMs: number
}

export interface DiscoverySettings {
  isEnabled: boolean
  /** Origins of the relays that this one asks first, and to which it announces itself. */
  bootstraps: readonly string[]
  /** True when relays at addresses that are not public are accepted, as in tests. */
  allowsLoopback: boolean
  /** Limits for a program that starts the relay in its own process, as tests do. They have no settings. */
  limits?: Partial<DiscoveryLimits>
}

const TABLE = {
  DISCOVERY: {
    meaning: 'whether the relay learns of other relays, and tells SDKs of them',
    default: 'false',
    parse: flag,
  },
  BOOTSTRAPS: {
    needs: ENABLED,
    meaning: 'URLs of relays that it asks first and to which it announces itself, separated by commas',
    unset: 'none',
    parse: relayUrls,
  },
  DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: {
    needs: ENABLED,
    meaning: 'whether relays at loopback and private addresses are taken, too: for tests on one machine',
    default: 'false',
    parse: flag,
  },
} satisfies SettingsTable

export const discoverySettings: FeatureSettings = {
  table: TABLE,
  read: (reader, core) => {
    const { read, optional } = reader.of(TABLE)
    const discovery = {
      isEnabled: read('DISCOVERY'),
      bootstraps: optional('BOOTSTRAPS') ?? [],
      allowsLoopback: read('DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS'),
    }
    requirePublicHost(discovery, core)
    return { discovery }
  },
}

/** @throws SettingsError */
function requirePublicHost(
  { isEnabled, allowsLoopback }: DiscoverySettings,
  { rootHost }: CoreSettings,
): void {
  if (isEnabled && !allowsLoopback && isLocalhost(rootHost))
    throw new SettingsError('DISCOVERY', `needs a public host: no other relay takes ${rootHost}`)
}

function relayUrls(value: string, setting: string): string[] {
  const origins = value.split(',').map((part) => originOf(part.trim(), setting))
  if (new Set(origins).size > BOOTSTRAPS_MAX)
    throw new SettingsError(setting, `has more than ${BOOTSTRAPS_MAX} relays`)
  return [...new Set(origins)]
}

function originOf(text: string, setting: string): string {
  const refuse = (why: string): SettingsError => new SettingsError(setting, `"${text}" ${why}`)
  const url = URL.parse(text)
  if (url === null) throw refuse('is not a URL such as https://relay.example.com')
  if (url.protocol !== 'https:') throw refuse('must begin with https://')
  if (url.username !== '' || url.password !== '')
    // The URL may contain a password, so the message does not quote it.
    throw new SettingsError(setting, `a URL of ${url.host} must not contain a user name or password`)
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw refuse('has more than a host and a port')
  return url.origin
}
