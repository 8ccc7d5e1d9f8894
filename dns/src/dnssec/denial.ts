// Proofs that a name or a type does not exist, by compact denial: an NSEC record at the queried name, which says
// nothing about any other name (RFC 9824).

import { LABEL_MAX_OCTETS, NAME_MAX_OCTETS } from '../zone/name.ts'
import { TYPE } from '../zone/record-data.ts'

const TYPES_NOWHERE: readonly number[] = [TYPE.RRSIG, TYPE.NSEC, TYPE.NXNAME]

/** The bitmap of a name that does not exist (RFC 9824 §3.1). */
export const NO_NAME_BITMAP: Buffer = typeBitmap(TYPES_NOWHERE)

/** The bitmap of a name that has these types (RFC 9824 §3.2); none for an empty non-terminal. */
export function presentTypesBitmap(types: readonly number[]): Buffer {
  return typeBitmap([...types, TYPE.RRSIG, TYPE.NSEC])
}

/** The RDATA of NSEC at a name (RFC 4034 §4.1). @param owner the key of the name */
export function nsecData(owner: string, apex: string, bitmap: Buffer): Buffer {
  return Buffer.concat([Buffer.from(successor(owner, apex), 'latin1'), bitmap])
}

/**
 * The name that follows immediately in the order of RFC 4034 §6.1, as RFC 4471 §3.1.2 makes it; the apex after the last
 * possible name.
 */
export function successor(owner: string, apex: string): string {
  if (owner.length + 2 <= NAME_MAX_OCTETS) return `\u0001\0${owner}`
  let rest = owner
  while (rest.length > apex.length) {
    const label = rest.slice(1, 1 + rest.charCodeAt(0))
    const after = rest.slice(1 + label.length)
    if (label.length < LABEL_MAX_OCTETS && rest.length < NAME_MAX_OCTETS)
      return withLabel(`${label}\0`, after)
    const larger = withoutLargest(label)
    if (larger !== '') return withLabel(withLastIncremented(larger), after)
    rest = after
  }
  return apex
}

function withLabel(label: string, after: string): string {
  return String.fromCharCode(label.length) + label + after
}

/** Removes trailing largest octets, which cannot be incremented. */
function withoutLargest(label: string): string {
  let end = label.length
  while (end > 0 && label.charCodeAt(end - 1) === 0xff) end--
  return label.slice(0, end)
}

/** Skips capitals, because names compare in lower case. */
function withLastIncremented(label: string): string {
  const next = label.charCodeAt(label.length - 1) + 1
  const skipsCapitals = next === 'A'.charCodeAt(0) ? '['.charCodeAt(0) : next
  return label.slice(0, -1) + String.fromCharCode(skipsCapitals)
}

/** RFC 4034 §4.1.2. */
function typeBitmap(types: readonly number[]): Buffer {
  const windows = new Map<number, number[]>()
  for (const type of [...types].sort((one, other) => one - other)) {
    const window = windows.get(type >> 8) ?? []
    windows.set(type >> 8, window)
    window.push(type & 0xff)
  }
  return Buffer.concat(
    [...windows].map(([number, low]) => {
      const bits = Buffer.alloc((low.at(-1)! >> 3) + 1)
      for (const type of low) bits[type >> 3]! |= 0x80 >> (type & 7)
      return Buffer.concat([Buffer.from([number, bits.length]), bits])
    }),
  )
}
