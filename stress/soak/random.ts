// Random choices that a seed repeats.

export interface Random {
  /** A number from 0 up to 1. */
  next(): number
  /** An integer from `least` to `most`. */
  between(least: number, most: number): number
  of<T>(choices: readonly T[]): T
  /** Bytes of any kind. */
  bytes(length: number): Buffer
  /** A copy in another order. */
  shuffled<T>(all: readonly T[]): T[]
}

/** Mulberry32: 32 bits of state are enough to choose with. */
export function randomOf(seed: number): Random {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    of: (choices) => choices[between(0, choices.length - 1)]!,
    bytes: (length) => {
      const words = Uint32Array.from({ length: Math.ceil(length / 4) }, () => next() * 2 ** 32)
      return Buffer.from(words.buffer, 0, length)
    },
    shuffled: (all) => {
      const copy = [...all]
      for (let at = copy.length - 1; at > 0; at--) {
        const other = between(0, at)
        ;[copy[at], copy[other]] = [copy[other]!, copy[at]!]
      }
      return copy
    },
  }
}
