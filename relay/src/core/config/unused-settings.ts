// Finds variables that look like settings and have no effect, so that the relay can warn the operator.

/** Prefixes of variables that belong to this software. */
const PREFIXES = [
  'SVC_',
  'X402_',
  'ENS_',
  'ACME_',
  'STATIC_CACHE_',
  'OVERLAY_',
  'WIREGUARD_',
  'DISCOVERY_',
  'CLUSTER_',
]
/** A name may have one typo for each of this many letters. */
const LETTERS_PER_TYPO = 5

export interface UnusedSetting {
  name: string
  why: string
}

/**
 * Values may be secret, so that no reason contains one.
 * @param known names of the settings that the relay reads
 */
export function unusedSettings(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): UnusedSetting[] {
  const names = Object.keys(env).filter((name) => env[name] && !known.includes(name))
  return names.sort().flatMap((name) => {
    const meant = known.find((one) => isSimilar(name.toUpperCase(), one))
    if (meant !== undefined) return [{ name, why: `this relay does not know it; is ${meant} meant?` }]
    return PREFIXES.some((prefix) => name.startsWith(prefix))
      ? [{ name, why: 'this relay does not know it' }]
      : []
  })
}

function isSimilar(name: string, known: string): boolean {
  const mistakesMax = Math.floor(known.length / LETTERS_PER_TYPO)
  return Math.abs(name.length - known.length) <= mistakesMax && isWithin(mistakesMax, name, known)
}

/** Whether at most `max` letters are missing, extra, wrong or swapped (optimal string alignment distance). */
function isWithin(max: number, name: string, known: string): boolean {
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
    // A later row is no less than the least of the two before it.
    if (Math.min(...current, ...last!) > max) return false
    ;[beforeLast, last] = [last, current]
  }
  return last![known.length]! <= max
}
