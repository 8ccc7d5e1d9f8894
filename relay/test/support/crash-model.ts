// Models the writer of a crash test: each key has a number that only grows; some numbers mean "nothing".

/** Even keys are identities in policy.json, odd ones in leases.jsonl. */
export const KEYS = 64

/** Says on standard output that the writer begins, and that it was promised something to be kept. */
export const READY = 'ready\n'
export const KEPT = 'kept\n'

export function keyOf(index: number): string {
  return `name${index}:0x${index.toString(16).padStart(40, '0')}`
}

/** A reservation has its number in its hostname. */
export function hostnameOf(n: number): string {
  return `name-${n}.relay.example`
}

export function numberOf(hostname: string): number {
  return Number(/^name-(\d+)\./.exec(hostname)?.[1])
}

export function isRelease(n: number): boolean {
  return n % 5 === 0
}
