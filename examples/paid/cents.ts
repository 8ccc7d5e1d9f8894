// Cents, in which the example counts, and the chain's smallest units of a dollar.

/** Smallest units of USDC in a cent: a dollar has a million. */
const UNITS_PER_CENT = 10_000n

export function unitsOf(cents: number): bigint {
  return BigInt(cents) * UNITS_PER_CENT
}

export function centsOf(units: bigint): number {
  return Number(units / UNITS_PER_CENT)
}

/** @returns the amount for people */
export function inWords(cents: number): string {
  return cents === 1 ? '1 cent' : `${cents} cents`
}
