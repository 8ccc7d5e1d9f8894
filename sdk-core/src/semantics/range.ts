// Parses the Range field (RFC 9110 §14.1.2, §14.2): a single byte range.

/** A ByteRange holds the offsets of the first byte and of the one after the last. */
export interface ByteRange {
  start: number
  end: number
}

const SINGLE = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i

/**
 * @returns undefined for a field to ignore: absent, in another unit, malformed, or with several ranges, which §14.2
 *   allows a server to answer in full; `unsatisfiable` when no byte of the range exists
 */
export function parseRange(field: string | null, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = SINGLE.exec(field ?? '')
  if (!match) return undefined
  const [, first, last, suffix] = match
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size }
  }
  const start = Number(first)
  const end = last ? Number(last) + 1 : size
  if (end <= start && last) return undefined // A range whose last byte is before its first is invalid (§14.1.1).
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(end, size) }
}
