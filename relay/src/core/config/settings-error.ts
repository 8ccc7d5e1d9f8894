// The error of a setting, or of an operator's file, that a start cannot use.

/** A SettingsError names a setting that is missing, invalid, or in conflict with another one. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly setting: string

  constructor(setting: string, problem: string) {
    super(`${setting}: ${problem}`)
    this.setting = setting
  }
}
