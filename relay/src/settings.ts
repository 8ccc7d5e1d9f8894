// All settings of a relay: those of the core, and those of each feature.

import { CORE_TABLE, NO_FEATURES, readCoreSettings } from './core/config/core-settings.ts'
import type { SettingsTable } from './core/config/setting.ts'
import type { Settings } from './core/config/settings.ts'
import { type Environment, SettingsReader } from './core/config/settings-reader.ts'
import { type UnusedSetting, unusedSettings } from './core/config/unused-settings.ts'
import { FEATURES } from './features/index.ts'

/** A setting as `--help` and the packages list it. */
export interface SettingText {
  name: string
  meaning: string
  /** The default value, or the effect of leaving the setting out. */
  default: string
  /** Whether {@link default} is a value. */
  hasDefault: boolean
}

const PARTS = FEATURES.flatMap(({ settings }) => settings ?? [])
const TABLE: SettingsTable = Object.assign({}, CORE_TABLE, ...PARTS.map(({ table }) => table))
const NAMES: readonly string[] = Object.keys(TABLE)

/** Every setting, in the order of `--help`. */
export const SETTINGS: readonly SettingText[] = Object.entries(TABLE).map(([name, setting]) => ({
  name,
  meaning: setting.meaning,
  default: setting.default ?? setting.unset ?? '',
  hasDefault: setting.default !== undefined,
}))

/** Reads all settings. @throws SettingsError that names a setting and the problem */
export function readSettings(env: Environment): Settings {
  const reader = new SettingsReader(env)
  const core = readCoreSettings(reader)
  const settings: Settings = Object.assign(
    { ...core, ...NO_FEATURES },
    {
      names: NAMES,
      given: new Map(NAMES.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
      unused: unusedSettings(env, NAMES),
    },
    ...PARTS.map((part) => part.read(reader, core)),
  )
  const listeners = Object.assign({}, ...PARTS.map((part) => part.listeners?.(settings)))
  for (const part of PARTS) part.check?.(settings, { table: TABLE, listeners })
  return settings
}

/** Settings with a value other than the default that have no effect, because what they need is off. */
export function idleSettingsOf(settings: Settings, isManaged: boolean): UnusedSetting[] {
  const { given } = settings
  return Object.entries(TABLE).flatMap(([name, { needs, default: byDefault }]) => {
    const isIdle =
      given.has(name) && given.get(name) !== byDefault && needs?.isMet(settings, isManaged) === false
    return isIdle ? [{ name, why: needs.unmet }] : []
  })
}
