// The settings of dedicated ports: their range, the transports that a first policy gives, and the host that their addresses name.

import type { AllSettings, FeatureSettings } from '../../core/config/feature-settings.ts'
import type { Condition, SettingsTable } from '../../core/config/setting.ts'
import { flag, hostName, portNumber } from '../../core/config/setting-values.ts'
import type { PortRange, Settings } from '../../core/config/settings.ts'
import { SettingsError } from '../../core/config/settings-error.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    /** Whether the range may include ports of well-known services, and those of the relay itself. */
    isPortRangeUnchecked: boolean
    /** Host that addresses of dedicated ports name; undefined: an address of this machine. */
    portHost: string | undefined
  }
}

/** The first port that is not a system port (RFC 6335 §6). */
const PORTS_OF_USERS = 1024
const RANGE: Condition = {
  isMet: ({ portRange }) => portRange !== undefined,
  unmet: 'MIN_PORT and MAX_PORT are not set',
}

const TABLE = {
  MIN_PORT: {
    meaning: 'first dedicated port; TCP and UDP share the range',
    unset: 'no dedicated ports',
    parse: portNumber,
  },
  MAX_PORT: { meaning: 'last dedicated port', unset: 'no dedicated ports', parse: portNumber },
  PORT_RANGE_UNCHECKED: {
    needs: RANGE,
    meaning: 'whether that range may have ports below 1024, and those of the relay itself',
    default: 'false',
    parse: flag,
  },
  UDP_ENABLED: {
    needs: RANGE,
    meaning: 'whether a first policy gives UDP ports',
    default: 'false',
    parse: flag,
  },
  TCP_ENABLED: {
    needs: RANGE,
    meaning: 'whether a first policy gives TCP ports',
    default: 'false',
    parse: flag,
  },
  PORT_HOST: {
    needs: RANGE,
    meaning:
      'host that addresses of dedicated ports name: of this machine, and not at or below the host of SVC_URL',
    unset: 'an address of this machine',
    parse: hostName,
  },
} satisfies SettingsTable

export const portSettings: FeatureSettings = {
  table: TABLE,
  read: (reader) => {
    const { read, optional } = reader.of(TABLE)
    return {
      portGates: { udp: read('UDP_ENABLED'), tcp: read('TCP_ENABLED') },
      portHost: optional('PORT_HOST'),
      isPortRangeUnchecked: read('PORT_RANGE_UNCHECKED'),
      portRange: portRange(optional('MIN_PORT'), optional('MAX_PORT')),
    }
  },
  check,
}

function portRange(min: number | undefined, max: number | undefined): PortRange | undefined {
  if (min === undefined && max === undefined) return undefined
  if (min === undefined || max === undefined)
    throw new SettingsError(
      min === undefined ? 'MIN_PORT' : 'MAX_PORT',
      'MIN_PORT and MAX_PORT must both be set',
    )
  if (min > max) throw new SettingsError('MAX_PORT', `${max} is below MIN_PORT, ${min}`)
  return { min, max }
}

/**
 * Strangers get these ports. Below 1024 are those of well-known services, among them 25 (mail), 53 (DNS), 80 and 443 (web), at which
 * a site would pass for the relay.
 * @throws SettingsError
 */
function check({ portRange, isPortRangeUnchecked, sniPort }: Settings, { listeners }: AllSettings): void {
  if (portRange === undefined || isPortRangeUnchecked) return
  const { min, max } = portRange
  const allow = 'PORT_RANGE_UNCHECKED=true allows it'
  if (min < PORTS_OF_USERS)
    throw new SettingsError(
      'MIN_PORT',
      `${min} is below ${PORTS_OF_USERS}, where well-known services are, such as 25, 53, 80 and 443: ${allow}`,
    )
  for (const [name, port] of Object.entries({ SNI_PORT: sniPort, ...listeners }))
    if (port !== undefined && port >= min && port <= max)
      throw new SettingsError('MIN_PORT', `${min} to ${max} has ${port}, the relay's own (${name}): ${allow}`)
}
