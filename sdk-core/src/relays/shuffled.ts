// Shuffles values.

/** Returns the values in a random order (Fisher–Yates). */
export function shuffled<T>(values: readonly T[]): T[] {
  const result = [...values]
  for (let last = result.length - 1; last > 0; last -= 1) {
    const chosen = Math.floor(Math.random() * (last + 1))
    ;[result[last], result[chosen]] = [result[chosen]!, result[last]!]
  }
  return result
}
