// One byte range of a file (RFC 9110 §14). For several ranges the whole file is sent, as §14.2 allows.

/** Both ends are inclusive. */
export interface ByteRange {
  start: number
  end: number
}

/** A unit, then everything that belongs to it. */
const UNIT = /^([!#$%&'*+.^_`|~\w-]+)=(.*)$/
const FIRST_TO_LAST = /^(\d{1,15})-(\d{0,15})$/
const LAST_BYTES = /^-(\d{1,15})$/

/**
 * @param header `Range` of the request
 * @param size of the file in bytes
 * @returns undefined to send the whole file, 'invalid' to respond 416
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'invalid' | undefined {
  if (header === undefined) return undefined
  const [, unit, ranges = ''] = UNIT.exec(header.trim()) ?? []
  if (unit === undefined) return 'invalid'
  // §14.2: a range in an unknown unit is ignored.
  if (unit.toLowerCase() !== 'bytes') return undefined
  const read = ranges.split(',').map((range) => readOne(range.trim(), size))
  if (read.includes('malformed')) return 'invalid'
  const satisfiable = read.filter((one) => typeof one === 'object')
  if (satisfiable.length === 0) return 'invalid'
  return read.length === 1 ? satisfiable[0] : undefined
}

function readOne(range: string, size: number): ByteRange | 'unsatisfiable' | 'malformed' {
  const [, first, last] = FIRST_TO_LAST.exec(range) ?? []
  if (first !== undefined) {
    const start = Number(first)
    const end = last ? Number(last) : Number.POSITIVE_INFINITY
    if (end < start) return 'malformed'
    return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable'
  }
  const [, suffix] = LAST_BYTES.exec(range) ?? []
  if (suffix === undefined) return 'malformed'
  const length = Math.min(Number(suffix), size)
  return length > 0 ? { start: size - length, end: size - 1 } : 'unsatisfiable'
}
