// Variables of the environment that look like settings of this relay and do nothing: an operator who set one is told.

/** The start of every name that is ours. */
const PREFIXES = ['SVC_', 'X402_', 'ENS_', 'ACME_', 'OVERLAY_']
/** Settings whose feature this release does not have → the feature. */
const MISSING: Readonly<Record<string, string>> = {
  ACME_DNS_PROVIDER: 'certificates by ACME',
  ENS_GASLESS_ENABLED: 'names in ENS',
  OVERLAY_CONFIG: 'an overlay network',
  PUBLIC_IPS: 'a feature that publishes its addresses',
  X402_ENABLED: 'payments by x402',
  X402_TESTNET: 'payments by x402',
  X402_PAY_TO: 'payments by x402',
}
/** As many letters of a name may be wrong as it has fives of them. */
const LETTERS_FOR_EACH_MISTAKE = 5

export interface UnusedSetting {
  name: string
  why: string
}

/**
 * Values are not looked at, but for those that leave a feature off: they may be secret.
 * @param known names that are read
 */
export function unusedSettings(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): UnusedSetting[] {
  const isUnused = (name: string): boolean => Object.hasOwn(MISSING, name) || !known.includes(name)
  const names = Object.keys(env).filter((name) => env[name] && isUnused(name))
  return names.sort().flatMap((name) => {
    const feature = Object.hasOwn(MISSING, name) ? MISSING[name] : undefined
    if (feature !== undefined)
      return env[name] === 'false' ? [] : [{ name, why: `this release does not have ${feature}` }]
    const meant = known.find((one) => isNear(name.toUpperCase(), one))
    if (meant !== undefined) return [{ name, why: `it is not known; is ${meant} meant?` }]
    return PREFIXES.some((prefix) => name.startsWith(prefix)) ? [{ name, why: 'it is not known' }] : []
  })
}

function isNear(name: string, known: string): boolean {
  const mistakesMax = Math.floor(known.length / LETTERS_FOR_EACH_MISTAKE)
  return Math.abs(name.length - known.length) <= mistakesMax && mistakesIn(name, known) <= mistakesMax
}

/** Letters that are missing, extra, wrong or in each other's place (optimal string alignment). */
function mistakesIn(name: string, known: string): number {
  let [beforeLast, last]: number[][] = [[], Array.from({ length: known.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= name.length; row++) {
    const current = [row]
    for (let column = 1; column <= known.length; column++) {
      const [letter, other] = [name[row - 1], known[column - 1]]
      const replaced = last![column - 1]! + (letter === other ? 0 : 1)
      const isSwapped = row > 1 && column > 1 && letter === known[column - 2] && name[row - 2] === other
      const swapped = isSwapped ? beforeLast![column - 2]! + 1 : replaced
      current.push(Math.min(replaced, swapped, last![column]! + 1, current[column - 1]! + 1))
    }
    ;[beforeLast, last] = [last, current]
  }
  return last![known.length]!
}
