// Reads the credentials of a provider from the environment, by the provider's usual variable names.

import { SettingsError } from '../../../core/config/settings.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The values of these variables; each may have alternative names. An empty variable counts as unset.
 * @throws SettingsError that names what is missing
 */
export function required<N extends readonly (string | readonly string[])[]>(
  provider: string,
  env: Environment,
  ...variables: N
): { [I in keyof N]: string } {
  return variables.map((variable) => {
    const names = [variable].flat()
    const value = names.map((name) => env[name]).find((found) => found)
    if (value !== undefined && /^[\x21-\x7e]+$/.test(value)) return value
    const problem =
      value === undefined
        ? `is needed by ACME_DNS_PROVIDER=${provider}`
        : 'has characters that no credential has'
    throw new SettingsError(names.join(' or '), problem)
  }) as { [I in keyof N]: string }
}
