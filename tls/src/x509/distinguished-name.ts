// Writes distinguished names as text (RFC 4514).

import { hex } from '../der/certificate-fields.ts'
import { type DerElement, DerReader } from '../der/reader.ts'
import * as DER_TAG from '../der/tags.ts'

/** The short names of attribute types (RFC 4514 §3), and two that certificates of clients often have. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  '550403': 'CN',
  '550405': 'serialNumber',
  '550406': 'C',
  '550407': 'L',
  '550408': 'ST',
  '550409': 'STREET',
  '55040a': 'O',
  '55040b': 'OU',
  '0992268993f22c640101': 'UID',
  '0992268993f22c640119': 'DC',
  '2a864886f70d010901': 'emailAddress',
}

/** The most bytes of an attribute's type. Longer ones would take long to write, and none exists. */
const OID_MAX_BYTES = 64

/** The encodings of the string types whose text is written as it is (X.690 §8.23). */
const ENCODINGS: Readonly<Record<number, string>> = {
  [DER_TAG.utf8String]: 'utf-8',
  // PrintableString, IA5String
  19: 'utf-8',
  22: 'utf-8',
  // BMPString
  30: 'utf-16be',
}

/**
 * Writes a Name as `CN=Alice,O=Example`: the last relative name first.
 * @throws RangeError for bytes that are none
 */
export function nameText({ content }: DerElement): string {
  const names = new DerReader(content)
  const texts: string[] = []
  while (!names.isDone) {
    const attributes = names.enter(DER_TAG.set)
    const parts: string[] = []
    while (!attributes.isDone) parts.push(attributeText(attributes.enter(DER_TAG.sequence)))
    texts.unshift(parts.join('+'))
  }
  return texts.join(',')
}

function attributeText(fields: DerReader): string {
  const { content: id } = fields.take(DER_TAG.objectIdentifier)
  const value = fields.take()
  fields.end()
  const short = SHORT_NAMES[hex(id)]
  const text = short && textOf(value)
  return text === undefined ? `${short ?? dotted(id)}=#${hex(value.der)}` : `${short}=${escaped(text)}`
}

/** Returns undefined for a value that is no text. */
function textOf({ tag, content }: DerElement): string | undefined {
  const encoding = ENCODINGS[tag]
  if (encoding === undefined) return undefined
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return undefined
  }
}

/** Escapes special characters (RFC 4514 §2.4), and control characters, which could change what a terminal or log shows. */
function escaped(text: string): string {
  return text
    .replace(/["+,;<>\\]|^[ #]|(?<=.) $/gs, '\\$&')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
      hex(new TextEncoder().encode(character)).replace(/../g, '\\$&'),
    )
}

/** Writes an object identifier with dots (X.690 §8.19). */
function dotted(id: Uint8Array): string {
  if (id.length > OID_MAX_BYTES) throw new RangeError('DER has an object identifier that is too long')
  const numbers: bigint[] = []
  let number = 0n
  for (const byte of id) {
    number = number * 128n + BigInt(byte & 0x7f)
    if (byte & 0x80) continue
    numbers.push(number)
    number = 0n
  }
  const [first = 0n, ...rest] = numbers
  const top = first < 80n ? first / 40n : 2n
  return [top, first - top * 40n, ...rest].join('.')
}
