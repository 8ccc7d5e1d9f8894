// The records of one name and type, in a form that takes little memory.

/** RecordSet objects do not change: another set is another object, by which signatures tell whether they still hold. */
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
