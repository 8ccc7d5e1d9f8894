// Defines one row of the table of settings, and the feature that it belongs to.

/** The settings that decide which features are on. */
export interface FeatureSettings {
  rootHost: string
  acme: { challenge: string }
  acmeDnsProvider?: string | undefined
  ensGasless: boolean
  discovery: { isEnabled: boolean }
  cache: { isEnabled: boolean }
  payment: { isEnabled: boolean }
  cluster?: object | undefined
  portRange?: object | undefined
  /** The values of the variables that are set. */
  given: ReadonlyMap<string, string>
}

/** These values decide which features are on. */
export interface FeatureState {
  settings: FeatureSettings
  /** Whether the relay gets its certificates by ACME. */
  isManaged: boolean
}

export interface Feature {
  isOn(state: FeatureState): boolean
  /** Says what is missing, behind "does nothing:". */
  off: string
}

/** One row of the table of settings. */
export interface Setting<T> {
  /** The feature that the setting belongs to: without it the setting has no effect. */
  feature?: Feature
  meaning: string
  /** Value of an unset variable. */
  default?: string
  /** Effect of leaving the variable out, where it has no default value. */
  unset?: string
  parse(value: string, name: string): T
}
