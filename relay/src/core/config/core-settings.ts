// The settings of the core: every variable, its meaning, default and valid values.

import { resolve } from 'node:path'
import { type ApprovalMode, RELAY_BUDGET_PER_MINUTE, SOURCE_BUDGET_PER_MINUTE } from '@svc/protocol'
import { TrustedProxies } from '../client-address/trusted-proxies.ts'
import { NAME_RESERVATION_MS } from '../lease/reservations.ts'
import type { SettingsTable } from './setting.ts'
import {
  ADMIN_TOKEN_MIN_CHARS,
  baseUrl,
  bearerToken,
  duration,
  ipAddress,
  isLocalhost,
  LOOPBACK,
  oneOf,
  portNumber,
  positiveInteger,
  trustedProxies,
  workers,
} from './setting-values.ts'
import type { CoreSettings, FeatureFacts } from './settings.ts'
import type { SettingsReader } from './settings-reader.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const HTTPS_PORT = 443
/** The modes of the policy, by their names in the setting. */
const MODES = { open: 'auto', approval: 'manual', token: 'token' } as const satisfies Record<
  string,
  ApprovalMode
>
const REGISTRATIONS = Object.keys(MODES) as (keyof typeof MODES)[]
const MINUTE_MS = 60_000
/** A year: a name that nobody has used for longer is free. */
const NAME_GRACE_MAX_MS = 365 * 24 * 60 * MINUTE_MS
const EVERY_ADDRESS = '::'
/** Relative to the working directory. */
export const IDENTITY_PATH_DEFAULT = '.svc'

const TABLE = {
  SVC_URL: {
    meaning: 'public base address, such as https://relay.example.com; sites appear at names below its host',
    unset: 'required',
    parse: baseUrl,
  },
  SNI_PORT: {
    meaning: 'port of the listener, when it differs from the port of SVC_URL',
    unset: 'the port of SVC_URL',
    parse: portNumber,
  },
  BIND_ADDRESS: {
    meaning:
      'IP address at which the relay listens, at all its ports; :: stands for every address of the machine',
    unset: `every address; ${LOOPBACK} where the host of SVC_URL is localhost or ends in .localhost`,
    parse: ipAddress,
  },
  IDENTITY_PATH: {
    meaning: 'state directory: identity, policy, certificates and leases',
    default: IDENTITY_PATH_DEFAULT,
    parse: (value: string) => resolve(value),
  },
  ADMIN_TOKEN: {
    meaning: `secret of the administrator: a random value of ${ADMIN_TOKEN_MIN_CHARS} characters or more`,
    unset: 'administration is off',
    parse: bearerToken,
  },
  REGISTRATION: {
    meaning:
      'who may register a site: open (everybody), approval (visitors come once an administrator has approved it), or token (only with an invitation)',
    unset: 'what the policy says: at first open',
    parse: (value: string, name: string) => MODES[oneOf(name, value, REGISTRATIONS)],
  },
  NAME_GRACE: {
    meaning: `how long a friendly name stays its owner's after its lease has ended, such as 24h or 90m: at least ${NAME_RESERVATION_MS / MINUTE_MS}m`,
    default: '24h',
    parse: (value: string, name: string) => duration(value, name, NAME_RESERVATION_MS, NAME_GRACE_MAX_MS),
  },
  TRUSTED_PROXIES: {
    meaning: 'addresses and CIDR ranges of proxies that name the client address, separated by commas',
    unset: 'none',
    parse: trustedProxies,
  },
  SOURCE_BUDGET_PER_MINUTE: {
    meaning:
      'units that one network may use per minute without a token, and six times as many at once; a registration costs 6',
    unset: `${SOURCE_BUDGET_PER_MINUTE}; none for clients on this machine where the host of SVC_URL is localhost or ends in .localhost`,
    parse: positiveInteger,
  },
  RELAY_BUDGET_PER_MINUTE: {
    meaning: 'units that all networks together may use per minute without a token',
    default: `${RELAY_BUDGET_PER_MINUTE}`,
    parse: positiveInteger,
  },
  LOG_LEVEL: {
    meaning: `one of ${LOG_LEVELS.join(', ')}`,
    default: 'info',
    parse: (value: string, name: string) => oneOf(name, value, LOG_LEVELS),
  },
  SVC_WORKERS: {
    meaning: 'processes that share visitors and sites, at most one per core',
    default: '1',
    parse: workers,
  },
  SVC_SITE_DIR: {
    meaning: 'directory of static files for the root host, beside the API',
    unset: 'the built-in pages',
    parse: (value: string) => resolve(value),
  },
} satisfies SettingsTable

export const CORE_TABLE: SettingsTable = TABLE

/** The facts of a relay without features. */
export const NO_FEATURES: FeatureFacts = {
  isAcmeAgreed: false,
  portGates: { udp: false, tcp: false },
  portRange: undefined,
  reservedPorts: [],
  hasOverlay: false,
  overlayPort: undefined,
}

/** @throws SettingsError that names a setting and the problem */
export function readCoreSettings(reader: SettingsReader): CoreSettings {
  const { read, optional } = reader.of(TABLE)
  const url = read('SVC_URL')
  // Behind a NAT the listener may have another port than the URL.
  const urlPort = Number(url.port || HTTPS_PORT)
  const sniPort = optional('SNI_PORT') ?? urlPort
  const networkPerMinute = optional('SOURCE_BUDGET_PER_MINUTE')
  return {
    url,
    host: url.host,
    rootHost: url.hostname,
    sniPort,
    ownPorts: [urlPort, sniPort],
    listenAddress: listenAddressOf(optional('BIND_ADDRESS'), url.hostname),
    identityPath: read('IDENTITY_PATH'),
    adminToken: optional('ADMIN_TOKEN'),
    registration: optional('REGISTRATION'),
    nameGraceMs: read('NAME_GRACE'),
    trustedProxies: optional('TRUSTED_PROXIES') ?? new TrustedProxies(''),
    rateLimits: {
      networkPerMinute: networkPerMinute ?? SOURCE_BUDGET_PER_MINUTE,
      relayPerMinute: read('RELAY_BUDGET_PER_MINUTE'),
      sparesLoopback: networkPerMinute === undefined && isLocalhost(url.hostname),
    },
    logLevel: read('LOG_LEVEL'),
    workers: read('SVC_WORKERS'),
    siteDir: optional('SVC_SITE_DIR'),
  }
}

/**
 * A relay on localhost is for this machine alone: another network, such as a café’s, has no business there.
 * @returns undefined for every address
 */
function listenAddressOf(given: string | undefined, rootHost: string): string | undefined {
  const address = given ?? (isLocalhost(rootHost) ? LOOPBACK : EVERY_ADDRESS)
  return address === EVERY_ADDRESS ? undefined : address
}
