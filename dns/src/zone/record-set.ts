// The records of one name and type, and strings of them, which take the least memory: an octet is a character.

export interface RecordSet {
  readonly type: number
  /** In seconds. */
  readonly ttl: number
  /** RDATA, an octet as a character each, in the order of RFC 4034 §6.3 and without duplicates. */
  readonly data: readonly string[]
}

/** @param data RDATA in wire form, in any order */
export function recordSet(type: number, ttl: number, data: readonly Uint8Array[]): RecordSet {
  const texts = data.map((bytes) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'),
  )
  // Characters below 256 compare as octets do.
  return { type, ttl, data: [...new Set(texts)].sort() }
}

export function isSameSet(one: RecordSet, other: RecordSet | undefined): boolean {
  if (one === other) return true
  return (
    other !== undefined &&
    one.type === other.type &&
    one.ttl === other.ttl &&
    one.data.length === other.data.length &&
    one.data.every((data, index) => data === other.data[index])
  )
}

/** Two octets of the type, four of the TTL, and two of the number of records. */
const HEAD_OCTETS = 8

/** One string that holds these sets and nothing else; strings are equal when the sets are. */
export function packSets(sets: readonly RecordSet[]): string {
  return sets
    .map(({ type, ttl, data }) => packedHead(type, ttl, data.length) + data.map(packedData).join(''))
    .join('')
}

export function unpackSets(packed: string): RecordSet[] {
  const sets: RecordSet[] = []
  for (let at = 0; at < packed.length; ) {
    const type = numberAt(packed, at)
    const ttl = numberAt(packed, at + 2) * 2 ** 16 + numberAt(packed, at + 4)
    const data: string[] = []
    const count = numberAt(packed, at + 6)
    for (at += HEAD_OCTETS; data.length < count; at += 2 + data.at(-1)!.length)
      data.push(packed.slice(at + 2, at + 2 + numberAt(packed, at)))
    sets.push({ type, ttl, data })
  }
  return sets
}

function packedHead(type: number, ttl: number, count: number): string {
  return String.fromCharCode(
    ...[type, ttl >>> 16, ttl & 0xffff, count].flatMap((word) => [word >> 8, word & 0xff]),
  )
}

function packedData(data: string): string {
  return String.fromCharCode(data.length >> 8, data.length & 0xff) + data
}

/** Of 16 bits. */
function numberAt(packed: string, at: number): number {
  return (packed.charCodeAt(at) << 8) | packed.charCodeAt(at + 1)
}
