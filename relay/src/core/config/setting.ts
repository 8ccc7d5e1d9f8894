// Defines one row of a table of settings.

import type { Settings } from './settings.ts'

/** One row of a table of settings. */
interface Setting<T> {
  meaning: string
  /** Value of an unset variable. */
  default?: string
  /** Effect of leaving the variable out, where it has no default value. */
  unset?: string
  /** Without this, the setting has no effect. */
  needs?: Condition
  /** Set if a relay of several machines cannot use the setting. */
  isOfOneMachine?: true
  parse(value: string, name: string): T
}

/** What a setting needs to have an effect. */
export interface Condition {
  /** @param isManaged whether the relay gets its certificates by ACME */
  isMet(settings: Settings, isManaged: boolean): boolean
  /** What is missing, as the rest of a sentence after "does nothing:". */
  unmet: string
}

/** Settings by the name of their variable. */
export type SettingsTable = Readonly<Record<string, Setting<unknown>>>
