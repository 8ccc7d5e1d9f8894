// Reads the credentials of a provider from the environment, by the provider's usual variable names.

/** Variables of a process, of which the credentials are some. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A CredentialError names a variable of the environment that is missing or invalid. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError'
  readonly variable: string
  readonly problem: string
  readonly isMissing: boolean

  constructor(variable: string, problem: string, isMissing = false) {
    super(`${variable} ${problem}`)
    this.variable = variable
    this.problem = problem
    this.isMissing = isMissing
  }
}

/**
 * The values of these variables; each may have alternative names. An empty variable counts as unset.
 * @throws CredentialError that names what is missing
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
    const isMissing = value === undefined
    const problem = isMissing
      ? `is needed by the DNS provider ${provider}`
      : 'has characters that no credential has'
    throw new CredentialError(names.join(' or '), problem, isMissing)
  }) as { [I in keyof N]: string }
}
