// Estimates the number of different visitors without storing an address: the algorithm HyperLogLog (2007) over a keyed hash.

import { hash, randomBytes } from 'node:crypto'

/** Registers of a sketch, of a byte each. With 128, the standard error is 1.04 / √128: 9 %. */
export const SKETCH_BYTES = 128
const REGISTER_BITS = 7
/** A register and its rank in one number: ranks have at most 26, for the 25 bits that choose no register. */
const RANK_BITS = 5
const RANK_MASK: number = 2 ** RANK_BITS - 1
const KEY_BYTES = 32
/** The bias of the estimate (section 4 of the paper). */
const ALPHA: number = 0.7213 / (1 + 1.079 / SKETCH_BYTES)
/** Below this, the number of empty registers tells more than the estimate. */
const SMALL: number = 2.5 * SKETCH_BYTES
/** The share of networks that have at least each rank. */
const SHARES: Float64Array = Float64Array.from({ length: RANK_MASK + 1 }, (_, rank) => 2 ** -rank)

/** A key that lives in memory alone: without it, nobody can tell whose network a sketch has counted. */
export function newSketchKey(): Uint8Array {
  return randomBytes(KEY_BYTES)
}

/** What a visitor from a network does to a sketch: a register and its rank, in one number. */
export function markOf(key: Uint8Array, network: string): number {
  const digest = hash('sha256', Buffer.concat([key, Buffer.from(network)]), 'buffer')
  const bits = digest.readUInt32BE(0)
  // The first bits choose the register. The bit behind the others bounds their leading zeros.
  const rank = Math.clz32(((bits << REGISTER_BITS) | (1 << (REGISTER_BITS - 1))) >>> 0) + 1
  return ((bits >>> (32 - REGISTER_BITS)) << RANK_BITS) | rank
}

/** @param mark as {@link markOf} returns it; of another process or machine */
export function isMark(mark: number): boolean {
  return Number.isInteger(mark) && mark >= 0 && mark < SKETCH_BYTES << RANK_BITS
}

export function addMark(sketch: Uint8Array, mark: number): void {
  const register = mark >>> RANK_BITS
  sketch[register] = Math.max(sketch[register]!, mark & RANK_MASK)
}

/** The marks that make the sketch of all: for each register the highest. */
export function unionOf(marks: Iterable<number>): number[] {
  const highest = new Map<number, number>()
  for (const mark of marks) {
    const register = mark >>> RANK_BITS
    highest.set(register, Math.max(highest.get(register) ?? 0, mark))
  }
  return [...highest.values()]
}

/** The marks that make the sketch. */
export function marksOf(sketch: Uint8Array): number[] {
  const marks: number[] = []
  for (let register = 0; register < sketch.length; register++) {
    const rank = sketch[register]!
    if (rank > 0) marks.push((register << RANK_BITS) | rank)
  }
  return marks
}

/** The number of different networks in all of the sketches. @param sketches one after the other */
export function countVisitors(sketches: Uint8Array): number {
  const ranks = new Uint8Array(SKETCH_BYTES)
  for (let at = 0; at < sketches.length; at++) {
    const register = at % SKETCH_BYTES
    if (sketches[at]! > ranks[register]!) ranks[register] = sketches[at]!
  }
  let sum = 0
  let empty = 0
  for (const rank of ranks) {
    sum += SHARES[rank]!
    if (rank === 0) empty += 1
  }
  const estimate = (ALPHA * SKETCH_BYTES ** 2) / sum
  const isSmall = estimate <= SMALL && empty > 0
  return Math.round(isSmall ? SKETCH_BYTES * Math.log(SKETCH_BYTES / empty) : estimate)
}
