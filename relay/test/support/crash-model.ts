// What a crash test's writer does, as a model: each key has a number that only grows; some numbers mean "nothing".

/** Even keys are identities in policy.json, odd ones in leases.jsonl. */
export const KEYS = 64
/** Reservations end this far in the future, plus their number in milliseconds. */
export const EPOCH_MS: number = Date.UTC(2100, 0)

export function keyOf(index: number): string {
  return `name${index}:0x${index.toString(16).padStart(40, '0')}`
}

export function isRelease(n: number): boolean {
  return n % 5 === 0
}
