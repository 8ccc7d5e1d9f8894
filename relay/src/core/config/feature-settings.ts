// Defines how a feature declares its settings.

import type { SettingsTable } from './setting.ts'
import type { CoreSettings, Settings } from './settings.ts'
import type { SettingsReader } from './settings-reader.ts'

/** The settings of one feature. */
export interface FeatureSettings {
  /** In the order in which `--help` lists them. */
  table: SettingsTable
  /** @throws SettingsError that names a setting and the problem */
  read(reader: SettingsReader, core: CoreSettings): Partial<Settings>
  /** Called after the settings of all features are read. @throws SettingsError for one that conflicts with others */
  check?(settings: Settings, all: AllSettings): void
  /** @returns ports of the feature's listeners, by the setting that names each */
  listeners?(settings: Settings): Readonly<Record<string, number | undefined>>
}

/** The settings of all features together. */
export interface AllSettings {
  table: SettingsTable
  listeners: Readonly<Record<string, number | undefined>>
}
