// Random numbers that a seed repeats, and the damage that the fuzz target does with them.

import { concat } from '../../src/messages/writer.ts'

/** A number below `limit`. */
export type Random = (limit: number) => number

/** mulberry32: small, and the same on every machine. */
export function random(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

export function oneOf<T>(choices: readonly T[], below: Random): T {
  return choices[below(choices.length)]!
}

/** Flips, cuts, repeats or inserts, once to four times. */
export function mutate(bytes: Uint8Array, below: Random): Uint8Array {
  let result: Uint8Array = bytes.slice()
  for (let i = below(4); i >= 0; i--) {
    const at = below(result.length + 1)
    const length = 1 + below(8)
    const kind = below(5)
    if (kind === 0 && at < result.length) result[at] = below(256)
    else if (kind === 1 && at < result.length) result[at] = [0, 1, 0x7f, 0xff][below(4)]!
    else if (kind === 2) result = concat(result.subarray(0, at), result.subarray(at + length))
    else if (kind === 3)
      result = concat(result.subarray(0, at), result.subarray(0, length), result.subarray(at))
    else result = concat(result.subarray(0, at), result.subarray(Math.max(0, at - length)))
  }
  return result
}

/** Pieces of random sizes. */
export function split(bytes: Uint8Array, below: Random): Uint8Array[] {
  const most = 1 + below(bytes.length + 1)
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + below(most)
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}
