// Reports what a start with the settings of an environment would do, feature by feature, and starts nothing.

import { findCertificateSource } from '../certificates/certificate-source.ts'
import { idleSettingsOf, readSettings, SETTINGS, type Settings, SettingsError } from '../config/settings.ts'
import { unusedSettings } from '../config/unused-settings.ts'
import { checkAdministration, checkProxies, checkRateLimits } from './access.ts'
import { checkCertificate } from './certificate.ts'
import { checkCluster } from './cluster.ts'
import { checkTcpPorts, checkUdpPorts } from './dedicated-ports.ts'
import { checkDiscovery } from './discovery.ts'
import { checkDns } from './dns.ts'
import { error, type Finding, type Found, ok, warning } from './finding.ts'
import { checkCapacity, checkListener, checkMetrics, checkRedirects, checkWorkers } from './listeners.ts'
import { checkGateways, checkOverlay } from './overlay.ts'
import { checkPayment } from './payment.ts'
import { checkInstaller, checkPages } from './root-host.ts'
import { checkDirectory, checkIdentity, checkLeases, checkPolicy } from './state.ts'
import { checkStaticCache } from './static-cache.ts'

export interface Report {
  /** Whether a start would succeed. */
  ok: boolean
  findings: Finding[]
}

export interface CheckOptions {
  /**
   * Whether a restart is meant: then the relay of these settings may hold its ports, since it ends first.
   * @default false
   */
  isRestart?: boolean
  /** Where external DNS providers find their credentials. @default none */
  env?: Environment
}

type Environment = Record<string, string | undefined>
type Check = (settings: Settings, options: CheckOptions) => Found[] | Promise<Found[]>

/** Every feature, in the order of the output. */
const CHECKS: readonly [feature: string, check: Check][] = [
  ['state directory', checkDirectory],
  ['identity', checkIdentity],
  ['certificate', checkCertificate],
  ['DNS', checkDns],
  ['policy', checkPolicy],
  ['leases', checkLeases],
  ['listener', checkListener],
  ['capacity', checkCapacity],
  ['workers', checkWorkers],
  ['machines', checkCluster],
  ['TCP ports', checkTcpPorts],
  ['UDP ports', checkUdpPorts],
  ['static cache', checkStaticCache],
  ['payments', checkPayment],
  ['discovery', checkDiscovery],
  ['overlay', checkOverlay],
  ['gateways', checkGateways],
  ['metrics', checkMetrics],
  ['redirects', checkRedirects],
  ['administration', checkAdministration],
  ['pages', checkPages],
  ['installer', checkInstaller],
  ['trusted proxies', checkProxies],
  ['rate limits', checkRateLimits],
]
/** A valid value of SVC_URL, for reading the other settings when this one is invalid. */
const ANY_URL = 'https://relay.invalid'

/** Never throws for invalid settings or files: they are findings. */
export async function reportOf(env: Environment, options: CheckOptions = {}): Promise<Report> {
  const invalid = invalidSettings(env)
  const unused = unusedSettings(
    env,
    SETTINGS.map(({ name }) => name),
  ).map(({ name, why }) => warning(`${name} does nothing: ${why}`))
  const idle = invalid.length === 0 ? await idleOf(readSettings(env)) : []
  const found = [...invalid.map(error), ...unused, ...idle]
  const findings = named('settings', found.length > 0 ? found : [ok('All settings are valid.')])
  if (invalid.length === 0) {
    const settings = readSettings(env)
    // One after the other, since several of them bind ports for a moment.
    for (const [feature, check] of CHECKS)
      findings.push(...named(feature, await attempt(() => check(settings, { ...options, env }))))
  }
  return { ok: findings.every(({ status }) => status !== 'error'), findings }
}

/** Where a start would fail for its certificates, the features that depend on them are not known. */
async function idleOf(settings: Settings): Promise<Found[]> {
  const source = await findCertificateSource(settings).catch((cause) => {
    if (cause instanceof SettingsError) return undefined
    throw cause
  })
  if (source === undefined) return []
  return idleSettingsOf(settings, source.kind === 'managed').map(({ name, why }) =>
    warning(`${name} does nothing: ${why}`),
  )
}

/** Messages of all invalid settings: each one is left out in turn, so that the next one shows. */
function invalidSettings(env: Environment): string[] {
  const messages: string[] = []
  const rest = { ...env }
  for (;;) {
    try {
      readSettings(rest)
      return messages
    } catch (cause) {
      if (!(cause instanceof SettingsError)) throw cause
      messages.push(cause.message)
      // An error that this does not correct is about several settings at once, and the last one.
      const next = cause.setting === 'SVC_URL' ? ANY_URL : undefined
      if (rest[cause.setting] === next) return messages
      rest[cause.setting] = next
    }
  }
}

/** A SettingsError is what a start would end with, about a file that does not fit. */
async function attempt(check: () => Found[] | Promise<Found[]>): Promise<Found[]> {
  try {
    return await check()
  } catch (cause) {
    if (cause instanceof SettingsError) return [error(cause.message)]
    throw cause
  }
}

function named(feature: string, found: readonly Found[]): Finding[] {
  return found.map((one) => ({ feature, ...one }))
}
