// Decides which snapshots make room for another one, so that nobody evicts the files of others with addresses that cost
// nothing: those of the networks that have most go first, and a network within its share loses only what nobody has
// used for long.

import { now } from '../../core/clock.ts'

/**
 * Share of the snapshots, and of their bytes, that a network (an IPv4 /24 or an IPv6 /48) is guaranteed. What it has
 * beyond that makes room for networks that have less.
 */
const CACHE_NETWORK_SHARE = 1 / 16
/**
 * A snapshot within that share stays for this many milliseconds after a visitor, or its site, has last used it, even when another one needs room.
 */
const CACHE_KEPT_UNUSED_MS = 60 * 60_000

/** Two nested networks of an address: who owns one wide network has many of the narrow ones. */
interface Place {
  readonly wideNetwork: string
  readonly network: string
}

/** A snapshot that may have to go. */
export interface Removable extends Place {
  /** Relay time. */
  readonly expiresAt: number
  /** Relay time at which a visitor or its site last used it. */
  readonly usedAt: number
}

/** A site that needs room. */
export interface Newcomer extends Place {
  /** As {@link RoomParts.sizeOf} measures. */
  readonly size: number
}

export interface RoomParts<Entry extends Removable> {
  /** All that are there. */
  all: Iterable<Entry>
  /** Those of them that may go at all; the one that was used longest ago comes first. */
  removable: readonly Entry[]
  /** What an entry takes: bytes, or one place. */
  sizeOf: (entry: Entry) => number
  /** What all entries may take together. */
  total: number
}

/**
 * Chooses expired entries first. Then each entry comes from the network that has most, and never from one that has less
 * than the newcomer's. From a network within its share, it takes only what nobody has used for `CACHE_KEPT_UNUSED_MS`.
 * @returns undefined when that does not free enough room
 */
export function choose<Entry extends Removable>(
  needed: number,
  newcomer: Newcomer,
  { all, removable, sizeOf, total }: RoomParts<Entry>,
): Entry[] | undefined {
  const time = now()
  const used = new Uses()
  used.add(newcomer, newcomer.size)
  for (const entry of all) used.add(entry, sizeOf(entry))
  const share = total * CACHE_NETWORK_SHARE
  const isUnused = ({ expiresAt, usedAt }: Entry): boolean =>
    expiresAt <= time || time - usedAt >= CACHE_KEPT_UNUSED_MS
  const mayGo = (entry: Entry): boolean => {
    if (isUnused(entry)) return true
    const [wide, narrow] = used.of(entry)
    const [ownWide, ownNarrow] = used.of(newcomer)
    if (entry.wideNetwork !== newcomer.wideNetwork) return wide > share && wide > ownWide
    return entry.network === newcomer.network || narrow > ownNarrow
  }
  const rest = new Set(removable)
  const chosen: Entry[] = []
  for (let gained = 0; gained < needed; ) {
    let next: Entry | undefined
    for (const entry of rest) if (mayGo(entry) && goesBefore(entry, next)) next = entry
    if (next === undefined) return undefined
    rest.delete(next)
    chosen.push(next)
    used.add(next, -sizeOf(next))
    gained += sizeOf(next)
  }
  return chosen

  /** Among equals, the newcomer's own go first, and then the least recently used, which come first. */
  function goesBefore(one: Entry, other: Entry | undefined): boolean {
    if (other === undefined) return true
    const ranks = [one, other].map((entry) => {
      const [wide, narrow] = used.of(entry)
      const isOwn = Number(entry.network === newcomer.network)
      return [Number(entry.expiresAt <= time), wide, narrow, isOwn]
    })
    const [first = [], second = []] = ranks
    const at = first.findIndex((value, index) => value !== second[index])
    return at >= 0 && first[at]! > second[at]!
  }
}

/** What each network has. */
class Uses {
  readonly #wide = new Map<string, number>()
  readonly #narrow = new Map<string, number>()

  add({ wideNetwork, network }: Place, size: number): void {
    this.#wide.set(wideNetwork, (this.#wide.get(wideNetwork) ?? 0) + size)
    this.#narrow.set(network, (this.#narrow.get(network) ?? 0) + size)
  }

  of({ wideNetwork, network }: Place): [wide: number, narrow: number] {
    return [this.#wide.get(wideNetwork) ?? 0, this.#narrow.get(network) ?? 0]
  }
}
