// Reads the variables of a table of settings from the environment.

import type { SettingsTable } from './setting.ts'
import { SettingsError } from './settings-error.ts'

export type Environment = Readonly<Record<string, string | undefined>>

interface TableReader<Table extends SettingsTable> {
  /** @throws SettingsError when the variable is not set and has no default, or its value is invalid */
  read<Name extends keyof Table & string>(name: Name): ReturnType<Table[Name]['parse']>
  /** @returns undefined when the variable is not set and has no default. @throws SettingsError when its value is invalid */
  optional<Name extends keyof Table & string>(name: Name): ReturnType<Table[Name]['parse']> | undefined
}

export class SettingsReader {
  readonly #env: Environment

  constructor(env: Environment) {
    this.#env = env
  }

  /** @returns functions that read the variables of one table */
  of<Table extends SettingsTable>(table: Table): TableReader<Table> {
    const optional: TableReader<Table>['optional'] = <Name extends keyof Table & string>(name: Name) => {
      const setting = table[name]!
      // An empty variable counts as unset.
      const value = this.#env[name] || setting.default
      return value === undefined
        ? undefined
        : (setting.parse(value, name) as ReturnType<Table[Name]['parse']>)
    }
    return {
      optional,
      read: (name) => {
        const value = optional(name)
        if (value === undefined) throw new SettingsError(name, `is needed: ${table[name]!.meaning}`)
        return value
      },
    }
  }
}
