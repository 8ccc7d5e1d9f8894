// Domain names in wire form, which may contain any octets, with the comparison of RFC 4343.

/** The longest name in wire form, in octets, with length octets and the root label (RFC 1035 §2.3.4). */
export const NAME_MAX_OCTETS = 255
/** The longest label, in octets (RFC 1035 §2.3.4). */
export const LABEL_MAX_OCTETS = 63

const CAPITALS = /[A-Z]+/g
/** Matches a label's octet, or an escaped one (RFC 1035 §5.1). */
const OCTET = /\\(\d{3})|\\([^\d])|([^\\])/gsy
const DOT = 0x2e
const BACKSLASH = 0x5c

export class DnsName {
  /** The name with its original letter case, uncompressed (RFC 1035 §3.1). Immutable. */
  readonly wire: Buffer
  /** The wire form in lower case, an octet as a character each. Names are the same when their keys are. */
  readonly key: string

  private constructor(wire: Buffer, key: string) {
    this.wire = wire
    this.key = key
  }

  /**
   * @param text in presentation format (RFC 1035 §5.1), absolute, with or without the trailing dot; the empty text and `.` are
   *   the root
   * @throws RangeError
   */
  static parse(text: string): DnsName {
    return new DnsName(...checked(wireOfText(text)))
  }

  /** @param bytes the whole name and nothing else, which the name then keeps @throws RangeError */
  static fromWire(bytes: Uint8Array): DnsName {
    const wire = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return new DnsName(...checked(wire))
  }

  /** Labels without the root's. */
  get labelCount(): number {
    let count = 0
    for (let at = 0; this.wire[at]! > 0; at += this.wire[at]! + 1) count++
    return count
  }

  /** The name without its first label; undefined for the root. */
  parent(): DnsName | undefined {
    if (this.wire[0] === 0) return undefined
    const start = this.wire[0]! + 1
    return new DnsName(this.wire.subarray(start), this.key.slice(start))
  }

  isBelowOrAt(other: DnsName): boolean {
    const start = this.wire.length - other.wire.length
    return start >= 0 && this.key.endsWith(other.key) && isLabelStart(this.wire, start)
  }

  /** The presentation format without the trailing dot; the root is `.`. */
  toString(): string {
    let text = ''
    for (let at = 0; this.wire[at]! > 0; at += this.wire[at]! + 1)
      text += `${at > 0 ? '.' : ''}${textOfLabel(this.wire.subarray(at + 1, at + 1 + this.wire[at]!))}`
    return text || '.'
  }
}

function wireOfText(text: string): Buffer {
  const labels: number[][] = [[]]
  OCTET.lastIndex = 0
  while (OCTET.lastIndex < text.length) {
    const match = OCTET.exec(text)
    if (match === null) throw new RangeError('A name ends within an escape')
    const [, digits, escaped, plain] = match
    if (plain === '.') labels.push([])
    else labels.at(-1)!.push(digits === undefined ? octetOf((escaped ?? plain)!) : Number(digits))
    if (labels.length > NAME_MAX_OCTETS) throw tooLong()
  }
  const isAbsolute = labels.length > 1 || text === ''
  if (isAbsolute && labels.at(-1)!.length === 0) labels.pop()
  if (text === '.') labels.pop()
  if (labels.some((label) => label.length === 0)) throw new RangeError('A name has an empty label')
  if (labels.some((label) => label.length > LABEL_MAX_OCTETS)) throw labelTooLong()
  if (labels.flat().some((octet) => octet > 0xff))
    throw new RangeError('A name has a character that is no octet')
  return Buffer.from([...labels.flatMap((label) => [label.length, ...label]), 0])
}

/** Returns the octet; above 255 for an invalid character. */
function octetOf(character: string): number {
  return character.charCodeAt(0)
}

/** The name and its key. @throws RangeError */
function checked(wire: Buffer): [Buffer, string] {
  if (wire.length > NAME_MAX_OCTETS) throw tooLong()
  let at = 0
  while (at < wire.length && wire[at]! > 0) {
    if (wire[at]! > LABEL_MAX_OCTETS) throw labelTooLong()
    at += wire[at]! + 1
  }
  if (at !== wire.length - 1) throw new RangeError('A name does not end where its bytes do')
  // The length octets are below the capitals, so they are unchanged.
  const key = wire.toString('latin1').replace(CAPITALS, (capitals) => capitals.toLowerCase())
  return [wire, key]
}

function isLabelStart(wire: Buffer, start: number): boolean {
  let at = 0
  while (at < start) at += wire[at]! + 1
  return at === start
}

function textOfLabel(label: Buffer): string {
  return Array.from(label, (octet) => {
    if (octet === DOT || octet === BACKSLASH) return `\\${String.fromCharCode(octet)}`
    if (octet > 0x20 && octet < 0x7f) return String.fromCharCode(octet)
    return `\\${String(octet).padStart(3, '0')}`
  }).join('')
}

function tooLong(): RangeError {
  return new RangeError(`A name has more than ${NAME_MAX_OCTETS} octets`)
}

function labelTooLong(): RangeError {
  return new RangeError(`A label has more than ${LABEL_MAX_OCTETS} octets`)
}
