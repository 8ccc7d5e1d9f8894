// The names of a zone with their records, as a tree in which each name is found by its key.

import { ZONE_NAMES_MAX } from './limits.ts'
import { type DnsName, LABEL_MAX_OCTETS } from './name.ts'
import { packSets, type RecordSet, unpackSets } from './record-set.ts'

export class ZoneNames {
  readonly #apex: DnsName
  readonly #max: number
  /** The packed record sets of each name. */
  readonly #sets: Map<string, string> = new Map()
  /** The number of names with records below each name that has any. */
  readonly #below: Map<string, number> = new Map()

  /** @param max names with records */
  constructor(apex: DnsName, max: number = ZONE_NAMES_MAX) {
    this.#apex = apex
    this.#max = max
  }

  setsAt(key: string): readonly RecordSet[] {
    const packed = this.#sets.get(key)
    return packed === undefined ? [] : unpackSets(packed)
  }

  /** Whether the name has records. */
  has(key: string): boolean {
    return this.#sets.has(key)
  }

  /** Whether names below this one have records. */
  hasBelow(key: string): boolean {
    return this.#below.has(key)
  }

  /**
   * @param sets all of the name; none removes the name
   * @throws RangeError when there are too many names
   */
  put(name: DnsName, sets: readonly RecordSet[]): void {
    const had = this.#sets.has(name.key)
    const has = sets.length > 0
    if (has && !had && this.#sets.size >= this.#max)
      throw new RangeError(`The zone has ${this.#max} names already`)
    if (has) this.#sets.set(name.key, packSets(sets))
    else this.#sets.delete(name.key)
    if (had !== has) this.#count(name, has ? 1 : -1)
  }

  /**
   * The closest encloser of a name below the apex (RFC 4592 §3.3.1): its longest ancestor, or itself, that exists.
   * @param exists asked for names below the apex, from the shortest one
   */
  closestEncloser(name: DnsName, exists: (key: string, depth: number) => boolean): string {
    let closest = this.#apex.key
    const starts = labelStarts(name, name.wire.length - this.#apex.wire.length)
    for (let depth = 1; depth <= starts.length; depth++) {
      const key = name.key.slice(starts.at(-depth)!)
      if (!exists(key, depth)) return closest
      closest = key
    }
    return closest
  }

  #count(name: DnsName, difference: number): void {
    for (const start of labelStarts(name, name.wire.length - this.#apex.wire.length).slice(1)) {
      const key = name.key.slice(start)
      const count = (this.#below.get(key) ?? 0) + difference
      if (count > 0) this.#below.set(key, count)
      else this.#below.delete(key)
    }
  }
}

/** Returns the offsets of the labels before `end`. */
function labelStarts({ wire }: DnsName, end: number): number[] {
  const starts: number[] = []
  for (let at = 0; at < end; at += wire[at]! + 1) starts.push(at)
  return starts
}

/** The key of the wildcard below a name. */
export function wildcardOf(key: string): string {
  return `\u0001*${key}`
}

/** The first label of a key, without its length. */
export function firstLabel(key: string): string {
  return key.slice(1, 1 + Math.min(key.charCodeAt(0), LABEL_MAX_OCTETS))
}
