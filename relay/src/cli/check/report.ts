// Reports what a start with the settings of an environment would do, feature by feature, and starts nothing.

import { findCertificateSource } from '../../core/certificates/certificate-source.ts'
import {
  type Check,
  type CheckOptions,
  error,
  type Finding,
  type Found,
  ok,
  warning,
} from '../../core/check/finding.ts'
import { checkDirectory, checkIdentity, checkLeases, checkPolicy } from '../../core/check/state.ts'
import { type Settings, SettingsError } from '../../core/config/settings.ts'
import { unusedSettings } from '../../core/config/unused-settings.ts'
import type { Feature } from '../../feature.ts'
import { FEATURES } from '../../features/index.ts'
import { idleSettingsOf, readSettings, SETTINGS } from '../../settings.ts'
import { checkAdministration, checkProxies, checkRateLimits } from './access.ts'
import { checkCertificate } from './certificate.ts'
import { checkCapacity, checkListener } from './listeners.ts'
import { checkPages } from './pages.ts'

export interface Report {
  /** Whether a start would succeed. */
  ok: boolean
  findings: Finding[]
}

type Environment = Record<string, string | undefined>

/** Every part of the relay, in the order of the output. */
const CHECKS: Readonly<Record<string, Check>> = {
  'state directory': checkDirectory,
  identity: checkIdentity,
  certificate: checkCertificate,
  policy: checkPolicy,
  leases: checkLeases,
  listener: checkListener,
  capacity: checkCapacity,
  ...checksOf(FEATURES),
  administration: checkAdministration,
  pages: checkPages,
  'trusted proxies': checkProxies,
  'rate limits': checkRateLimits,
}
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
    for (const [feature, check] of Object.entries(CHECKS))
      findings.push(...named(feature, await attempt(() => check(settings, { ...options, env }))))
  }
  return { ok: findings.every(({ status }) => status !== 'error'), findings }
}

/** When a start would fail because of its certificates, the features that depend on them are unknown. */
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

/** Messages of all invalid settings: each one found is left out, so that the next one shows. */
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
      // An error that this does not correct is about several settings, and is the last one.
      const next = cause.setting === 'SVC_URL' ? ANY_URL : undefined
      if (rest[cause.setting] === next) return messages
      rest[cause.setting] = next
    }
  }
}

/** Turns a SettingsError, with which a start would end, into a finding. */
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

function checksOf(features: readonly Feature[]): Record<string, Check> {
  return Object.assign({}, ...features.map(({ checks }) => checks))
}
