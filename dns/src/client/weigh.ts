// Whether a message is cheap to decode: thousands of its names may point to one that is long, and texts may have empty parts.

import { MESSAGE_PARTS_MAX, OTHER_RECORDS_MAX, RECORDS_MAX } from './limits.ts'

const HEADER_BYTES = 12
/** Bytes of type, class, TTL and length of a record. */
const RECORD_HEAD_BYTES = 10
const POINTER = 0xc0
const [A, NS, CNAME, SOA, TXT, AAAA, CAA] = [1, 2, 5, 6, 16, 28, 257]
const NAMES: Record<number, number> = { [NS]: 1, [CNAME]: 1, [SOA]: 2 }
const PLAIN: readonly number[] = [A, AAAA, CAA]

/** @throws RangeError for a message that is malformed, or has too many parts */
export function isCheap(bytes: Buffer): boolean {
  const parts = new Parts(bytes)
  const records = [6, 8, 10].reduce((sum, at) => sum + bytes.readUInt16BE(at), 0)
  if (bytes.readUInt16BE(4) !== 1 || records > RECORDS_MAX) return false
  let at = parts.afterName(HEADER_BYTES) + 4
  let others = 0
  for (let left = records; left > 0; left--) {
    const head = parts.afterName(at)
    const type = bytes.readUInt16BE(head)
    const data = head + RECORD_HEAD_BYTES
    at = data + bytes.readUInt16BE(head + 8)
    let name = data
    for (let names = NAMES[type] ?? 0; names > 0; names--) name = parts.afterName(name)
    if (type === TXT) parts.countStrings(data, at)
    else if (NAMES[type] === undefined && !PLAIN.includes(type)) others += 1
  }
  return others <= OTHER_RECORDS_MAX
}

/** Counts labels, pointers and strings, and ends at too many. */
class Parts {
  readonly #bytes: Buffer
  #count = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Follows pointers, also in circles, until there are too many. @returns where the name ends */
  afterName(start: number): number {
    let end: number | undefined
    let at = start
    for (;;) {
      this.#add()
      const length = this.#bytes.readUInt8(at)
      if (length >= POINTER) {
        end ??= at + 2
        at = this.#bytes.readUInt16BE(at) & 0x3f_ff
      } else if (length === 0) return end ?? at + 1
      else at += 1 + length
    }
  }

  countStrings(start: number, end: number): void {
    for (let at = start; at < end; at += 1 + this.#bytes.readUInt8(at)) this.#add()
  }

  #add(): void {
    this.#count += 1
    if (this.#count > MESSAGE_PARTS_MAX) throw new RangeError('the message has too many parts')
  }
}
